# shellcheck shell=sh disable=SC2154
# Sourced by the launchers (./ptxla-sim, ./ptxla-opt, ./test) with $root set.
# Everything here talks on stderr: stdout belongs to the program.

say() { printf '%s\n' "ptxla-sim: $*" >&2; }

# missing_packages KIND...: those packages of debian-packages.txt of these
# kinds that are not installed. Nothing on a system without dpkg.
missing_packages() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  for kind in "$@"; do
    sed -n "s/^$kind //p" "$root/cmake/debian-packages.txt"
  done | while read -r package; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
      *' installed') ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}

# The one line that installs "$missing"; in front of it what makes it root.
print_apt_line() {
  printf '  %sapt-get update && %sapt-get install -y --no-install-recommends%s\n' \
    "$1" "$1" "$missing" >&2
}

# need_packages KIND...: installs what is missing, or exits with 2 and the one
# line that the user has to run.
need_packages() {
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  as_root=
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1 ||
      { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      say "these Debian packages are missing, and only root can install them; run:"
      print_apt_line ''
      exit 2
    fi
    as_root=sudo
  fi
  say "installing Debian packages:$missing"
  # $missing is a list of words on purpose.
  # shellcheck disable=SC2086
  if ! { $as_root apt-get -qq update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
      --no-install-recommends $missing; } >/dev/null 2>&1 </dev/null; then
    say "the packages could not be installed (no network to the Debian mirror?); run:"
    print_apt_line "${as_root:+$as_root }"
    exit 2
  fi
}

# What a binary is made of; a change in tests/ or docs/ rebuilds nothing.
sources() {
  for folder in CMakeLists.txt cmake base chips record isa memory_model \
    interconnect hlo_backend sim lazy workloads runtime reports driver tools; do
    [ -e "$root/$folder" ] && printf '%s\n' "$root/$folder"
  done
}

# build_logged COMMAND...: shows the output on a terminal, keeps it in a log
# otherwise, and shows the end of the log when the command fails.
build_logged() {
  if [ -t 2 ]; then
    "$@" >&2 && return 0
  else
    "$@" >"$root/build/launch.log" 2>&1 && return 0
    tail -n 40 "$root/build/launch.log" >&2
  fi
  say "the build failed: $*"
  exit 4
}

configure() {
  mkdir -p "$root/build" 2>/dev/null || {
    say "cannot write $root/build"
    exit 2
  }
  [ -f "$root/build/build.ninja" ] && [ $# = 0 ] && return 0
  build_logged cmake -S "$root" -B "$root/build" -G Ninja "$@"
}

# build_if_changed: builds both programs when a source is newer than the last
# successful build. The stamp is set to the time before the build, so that an
# edit during the build counts. Directories count too: that is how a removed or
# added file shows.
build_if_changed() {
  stamp=$root/build/.launch-stamp
  if [ -f "$stamp" ] && [ -x "$root/build/tools/ptxla-sim" ] &&
    [ -x "$root/build/tools/ptxla-opt" ]; then
    # shellcheck disable=SC2046
    set -- $(sources)
    [ -n "$(find "$@" -newer "$stamp" -print -quit)" ] || return 0
  fi
  need_packages build
  mkdir -p "$root/build" 2>/dev/null || {
    say "cannot write $root/build"
    exit 2
  }
  exec 9>"$root/build/.launch-lock"
  flock 9
  if [ -f "$stamp" ]; then
    say "sources changed, building"
  else
    say "building in $root/build (once; several minutes on two cores)"
  fi
  touch "$stamp.new"
  if [ -f "$root/build/build.ninja" ]; then
    configure
  else
    configure -DPTXLA_TESTS=OFF
  fi
  build_logged ninja -C "$root/build" ptxla-sim ptxla-opt
  mv "$stamp.new" "$stamp"
  exec 9>&-
}
