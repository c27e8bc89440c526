# The CMake verbs of this tree. Every folder uses these and nothing else.
#
#   ptxla_library(NAME isa SRCS a.cc b.cc DEPS base chips absl::status)
#       one static library `ptxla_isa`, alias `ptxla::isa`; DEPS without "::"
#       are libraries of this tree. No SRCS: a header-only library. ALONE: more
#       sources, each compiled by itself (see ptxla_use_unity).
#   ptxla_proto(NAME record_proto SRCS record/run_record.proto DEPS chips_proto)
#       C++ code of .proto files; includes are from the root of the tree.
#   ptxla_test(NAME isa_assembler_test SRCS x_test.cc DEPS isa [LABELS slow])
#       one gtest binary, registered with CTest under its own name; its cases in
#       tests/slow_cases.txt once more as NAME.slow, with the label slow.
#   ptxla_benchmark(NAME parser_benchmark SRCS x_benchmark.cc DEPS hlo_ir)
#   ptxla_embed(NAME schema FILES schema.sql SYMBOL kFiles NAMESPACE ptxla::reports)
#       text files as an array of {name, text} in the generated embed/<NAME>.h;
#       depend on `<NAME>_embed`
#   ptxla_pch(NAME hlo_pch DEPS chips_proto)
#       the precompiled header of cmake/<NAME>.h, unless PTXLA_PCH is off

#   ptxla_check_tests(hlo_backend/passes)
#       one CTest for each .hlo, .mlir and .tpuasm file below this folder that
#       has "// RUN:" lines; needs LLVM's FileCheck and the tools.

function(_ptxla_deps out)
  set(result)
  foreach(dep ${ARGN})
    if(dep MATCHES "::")
      list(APPEND result ${dep})
    else()
      list(APPEND result ptxla::${dep})
    endif()
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

function(ptxla_library)
  cmake_parse_arguments(A "" "NAME" "SRCS;ALONE;DEPS" ${ARGN})
  _ptxla_deps(deps ${A_DEPS})
  if(A_SRCS OR A_ALONE)
    add_library(ptxla_${A_NAME} STATIC ${A_SRCS} ${A_ALONE})
    target_include_directories(ptxla_${A_NAME} PUBLIC ${PROJECT_SOURCE_DIR}
                                                      ${PROJECT_BINARY_DIR})
    target_link_libraries(ptxla_${A_NAME} PUBLIC ${deps} PRIVATE ptxla_warnings)
    ptxla_folder_pch(pch)
    ptxla_use_pch(ptxla_${A_NAME} ${pch})
    ptxla_use_unity(ptxla_${A_NAME} ${A_SRCS})
  else()
    add_library(ptxla_${A_NAME} INTERFACE)
    target_include_directories(
      ptxla_${A_NAME} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    target_link_libraries(ptxla_${A_NAME} INTERFACE ${deps})
  endif()
  add_library(ptxla::${A_NAME} ALIAS ptxla_${A_NAME})
endfunction()

function(ptxla_pch)
  cmake_parse_arguments(A "" "NAME" "DEPS" ${ARGN})
  if(NOT PTXLA_PCH)
    return()
  endif()
  _ptxla_deps(deps ${A_DEPS})
  add_library(ptxla_${A_NAME} OBJECT cmake/pch.cc)
  target_include_directories(ptxla_${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(
    ptxla_${A_NAME} PRIVATE absl::statusor absl::strings absl::flat_hash_map
                            absl::inlined_vector absl::function_ref ${deps})
  target_precompile_headers(ptxla_${A_NAME} PRIVATE cmake/${A_NAME}.h)
endfunction()

function(ptxla_use_pch target pch)
  if(PTXLA_PCH)
    target_precompile_headers(${target} REUSE_FROM ptxla_${pch})
  endif()
endfunction()

# Compiles up to eight files of one folder as one, which takes a quarter of the
# time: what headers instantiate is made once. Groups do not cross folders, so
# that a new file moves few others. Names in anonymous namespaces meet here:
# within a namespace, they must differ.
function(ptxla_use_unity target)
  if(NOT PTXLA_UNITY)
    return()
  endif()
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR group "0${count_${folder}} / 8")
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    set_source_files_properties(
      ${source} PROPERTIES UNITY_GROUP "${target}_${folder}_${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                                             UNITY_BUILD_MODE GROUP)
endfunction()

# The precompiled header of the libraries in the current folder: the one with
# what most of its files include.
function(ptxla_folder_pch out)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder MATCHES "^(hlo_backend/(compiler|lowering|passes)|sim|tests)(/|$)")
    set(${out} chip_pch PARENT_SCOPE)
  elseif(folder MATCHES "^hlo_backend(/|$)")
    set(${out} hlo_pch PARENT_SCOPE)
  elseif(folder MATCHES "^(driver|reports|tools)(/|$)")
    set(${out} record_pch PARENT_SCOPE)
  else()
    set(${out} pch PARENT_SCOPE)
  endif()
endfunction()

function(ptxla_proto)
  cmake_parse_arguments(A "" "NAME" "SRCS;DEPS" ${ARGN})
  set(generated)
  foreach(proto ${A_SRCS})
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(cc ${PROJECT_BINARY_DIR}/${stem}.pb.cc)
    set(h ${PROJECT_BINARY_DIR}/${stem}.pb.h)
    add_custom_command(
      OUTPUT ${cc} ${h}
      COMMAND protobuf::protoc --cpp_out=${PROJECT_BINARY_DIR}
              -I${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/${proto}
      COMMENT "protoc ${proto}" VERBATIM)
    list(APPEND generated ${cc} ${h})
  endforeach()
  _ptxla_deps(deps ${A_DEPS})
  add_library(ptxla_${A_NAME} STATIC ${generated})
  target_include_directories(ptxla_${A_NAME} SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  target_link_libraries(ptxla_${A_NAME} PUBLIC protobuf::libprotobuf ${deps})
  add_library(ptxla::${A_NAME} ALIAS ptxla_${A_NAME})
endfunction()

function(ptxla_test)
  cmake_parse_arguments(A "" "NAME" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT PTXLA_TESTS)
    return()
  endif()
  _ptxla_deps(deps ${A_DEPS})
  add_executable(${A_NAME} ${A_SRCS})
  target_include_directories(${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR}
                                               ${PROJECT_BINARY_DIR})
  target_compile_definitions(
    ${A_NAME} PRIVATE PTXLA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                      PTXLA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${A_NAME} PRIVATE ${deps} GTest::gmock GTest::gtest_main
                                          ptxla_warnings)
  ptxla_use_pch(${A_NAME} test_pch)
  ptxla_use_unity(${A_NAME} ${A_SRCS})
  # Most of a test's compile time is code that runs once.
  target_compile_options(${A_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  set(slow_cases ${PROJECT_SOURCE_DIR}/tests/slow_cases.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${slow_cases})
  file(STRINGS ${slow_cases} cases REGEX "^${A_NAME} ")
  if(cases)
    # "Suite.Case" is a plain case, or one with parameters.
    list(TRANSFORM cases REPLACE "^${A_NAME} (.*)$" "\\1:*/\\1/*")
    list(JOIN cases ":" slow)
    add_test(NAME ${A_NAME}.slow COMMAND ${A_NAME} --gtest_filter=${slow})
    set_tests_properties(${A_NAME}.slow PROPERTIES LABELS slow)
    add_test(NAME ${A_NAME} COMMAND ${A_NAME} --gtest_filter=-${slow})
  else()
    add_test(NAME ${A_NAME} COMMAND ${A_NAME})
  endif()
  if(A_LABELS)
    set_tests_properties(${A_NAME} PROPERTIES LABELS "${A_LABELS}")
  endif()
endfunction()

function(ptxla_benchmark)
  cmake_parse_arguments(A "" "NAME" "SRCS;DEPS" ${ARGN})
  if(NOT PTXLA_BENCHMARKS)
    return()
  endif()
  _ptxla_deps(deps ${A_DEPS})
  add_executable(${A_NAME} ${A_SRCS})
  target_include_directories(${A_NAME} PRIVATE ${PROJECT_SOURCE_DIR}
                                               ${PROJECT_BINARY_DIR})
  target_compile_definitions(
    ${A_NAME} PRIVATE PTXLA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${A_NAME} PRIVATE ${deps} benchmark::benchmark_main
                                          ptxla_warnings)
endfunction()

function(ptxla_embed)
  cmake_parse_arguments(A "" "NAME;SYMBOL;NAMESPACE" "FILES" ${ARGN})
  set(header ${PROJECT_BINARY_DIR}/embed/${A_NAME}.h)
  set(inputs)
  foreach(file ${A_FILES})
    list(APPEND inputs ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  string(REPLACE ";" "," joined "${inputs}")
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DOUT=${header} -DFILES=${joined}
            -DSYMBOL=${A_SYMBOL} -DNAMESPACE=${A_NAMESPACE} -P
            ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "embed ${A_NAME}" VERBATIM)
  add_custom_target(ptxla_embed_${A_NAME} DEPENDS ${header})
  add_library(ptxla_${A_NAME}_embed INTERFACE)
  target_include_directories(ptxla_${A_NAME}_embed
                             INTERFACE ${PROJECT_BINARY_DIR})
  add_dependencies(ptxla_${A_NAME}_embed ptxla_embed_${A_NAME})
  add_library(ptxla::${A_NAME}_embed ALIAS ptxla_${A_NAME}_embed)
endfunction()

function(ptxla_check_tests prefix)
  if(NOT PTXLA_TESTS OR NOT PTXLA_FILECHECK)
    return()
  endif()
  file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
       *.hlo *.mlir *.tpuasm)
  foreach(file ${files})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(STRINGS ${path} runs REGEX "// RUN:" LIMIT_COUNT 1)
    if(runs)
      add_test(
        NAME check/${prefix}/${file}
        COMMAND
          ${PROJECT_SOURCE_DIR}/tests/support/run_check.sh ${path}
          $<TARGET_FILE:ptxla-opt> $<TARGET_FILE:ptxla-sim> ${PTXLA_FILECHECK})
    endif()
  endforeach()
endfunction()
