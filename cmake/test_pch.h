// What nearly every test includes; see PTXLA_PCH.
#include "cmake/chip_pch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
