#[=======================================================================[.rst:
Cdp
---

Device code and programs compiled by ``cdpc``. In a ``CMakeLists.txt``::

  find_package(Cdp REQUIRED)

with the folder of this file in ``CMAKE_PREFIX_PATH`` or ``Cdp_DIR``. CMake 3.20 or newer, with the
Ninja or the Makefiles generators.

Variables, to be set before::

  CDP_COMPILER     the command cdpc; else it is searched for in PATH
  CDP_CUDA_PATH    the CUDA toolkit that it uses; else it finds one itself
  CDP_ARCHITECTURES  default of ARCH below; else sm_90

Device code::

  add_cdp_cubin(<target> <source>...
    [EMIT cubin|fatbin|ptx]       what to make; a fat binary for several architectures, else a cubin
    [OUTPUT <file>]               default <target>.<extension> in the current binary folder
    [ARCH <sm>...]
    [INCLUDE_DIRECTORIES <folder>...]
    [DEFINITIONS <NAME[=TEXT]>...]
    [OPTIONS <option>...])        further options of cdpc build

makes a target that is part of ``all``. Its property ``CDP_OUTPUT`` is the file's full name.
Sources may be ``.cdp``, ``.cu``, ``.ll``, ``.bc``, ``.ptx``, ``.o`` and ``.a``.

Programs::

  add_cdp_executable(<target> <source>...
    [ARCH <sm>...] [INCLUDE_DIRECTORIES <folder>...] [DEFINITIONS <NAME[=TEXT]>...]
    [OPTIONS <option>...]
    [LINK_LIBRARIES <name>...] [LINK_DIRECTORIES <folder>...])

makes an (imported) executable target, which ``add_test`` and ``$<TARGET_FILE:...>`` know. The program
runs on a GPU or, without one, on the CPU device.

Objects for a CUDA program that nvcc links::

  add_cdp_object(<target> <source>
    [OUTPUT <file>] [ARCH <sm>...] [INCLUDE_DIRECTORIES <folder>...]
    [DEFINITIONS <NAME[=TEXT]>...] [OPTIONS <option>...])

What is made is made again when a source, a file that it includes, or cdpc changes. In a
configuration ``Debug`` the code is not optimised; elsewhere it is.
#]=======================================================================]

cmake_minimum_required(VERSION 3.20)

if(NOT CDP_COMPILER)
  find_program(CDP_COMPILER cdpc DOC "The compiler cdpc")
endif()
# A name alone is searched for as a shell does; a path is one from where CMake was started.
if(CDP_COMPILER AND NOT IS_ABSOLUTE "${CDP_COMPILER}")
  if(CDP_COMPILER MATCHES "/")
    get_filename_component(_cdp_compiler "${CDP_COMPILER}" ABSOLUTE BASE_DIR "$ENV{PWD}")
  else()
    find_program(_cdp_compiler "${CDP_COMPILER}" NO_CACHE)
  endif()
  if(NOT EXISTS "${_cdp_compiler}")
    message(FATAL_ERROR "CDP_COMPILER is ${CDP_COMPILER}, and there is no such program: give its full path")
  endif()
  set(CDP_COMPILER "${_cdp_compiler}" CACHE FILEPATH "The compiler cdpc" FORCE)
endif()
include(FindPackageHandleStandardArgs)
if(CDP_COMPILER)
  execute_process(
    COMMAND "${CDP_COMPILER}" --version
    OUTPUT_VARIABLE Cdp_VERSION
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^cdpc " "" Cdp_VERSION "${Cdp_VERSION}")
endif()
set(Cdp_CONFIG "${CMAKE_CURRENT_LIST_FILE}")
find_package_handle_standard_args(Cdp REQUIRED_VARS CDP_COMPILER VERSION_VAR Cdp_VERSION CONFIG_MODE)

# The command line that all outputs share, into <result>: cdpc build, options, sources with full names.
function(_cdp_command result arch_default)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "SOURCES;ARCH;INCLUDE_DIRECTORIES;DEFINITIONS;OPTIONS")
  set(archs "${ARG_ARCH}")
  if(NOT archs)
    set(archs "${arch_default}")
  endif()
  list(JOIN archs "," archs)
  set(command "${CDP_COMPILER}" build "--arch=${archs}" "$<IF:$<CONFIG:Debug>,-O0,-O3>")
  if(CDP_CUDA_PATH)
    list(APPEND command "--cuda-path=${CDP_CUDA_PATH}")
  endif()
  foreach(folder IN LISTS ARG_INCLUDE_DIRECTORIES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND command "-I${folder}")
  endforeach()
  foreach(definition IN LISTS ARG_DEFINITIONS)
    list(APPEND command "-D${definition}")
  endforeach()
  list(APPEND command ${ARG_OPTIONS})
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND command "${source}")
  endforeach()
  set(${result} "${command}" PARENT_SCOPE)
endfunction()

# The rule that makes <output>, with its dependency file; relative names of sources are in the source
# folder. With STAMP the rule is known by that file, and <output> comes along.
function(_cdp_rule output what)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "STAMP" "COMMAND;SOURCES")
  set(made OUTPUT "${output}")
  set(touch)
  set(rule "${output}")
  if(ARG_STAMP)
    set(rule "${ARG_STAMP}")
    set(made OUTPUT "${ARG_STAMP}" BYPRODUCTS "${output}")
    set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${ARG_STAMP}")
  endif()
  set(depends)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND depends "${source}")
  endforeach()
  file(RELATIVE_PATH shown "${CMAKE_BINARY_DIR}" "${output}")
  # Makefiles do not make folders for outputs.
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    ${made}
    COMMAND ${ARG_COMMAND} -o "${output}" -MD -MF "${output}.d" -MT "${rule}"
    ${touch}
    DEPENDS ${depends} "${CDP_COMPILER}"
    DEPFILE "${output}.d"
    COMMENT "Building ${what} ${shown}"
    COMMAND_EXPAND_LISTS
    VERBATIM)
endfunction()

function(_cdp_default_archs result)
  if(CDP_ARCHITECTURES)
    set(${result} "${CDP_ARCHITECTURES}" PARENT_SCOPE)
  else()
    set(${result} sm_90 PARENT_SCOPE)
  endif()
endfunction()

# Stops with a message when a call has no sources.
function(_cdp_want_sources function target)
  if(NOT ARGN)
    message(FATAL_ERROR "${function}(${target}): no sources were given")
  endif()
endfunction()

function(add_cdp_cubin target)
  cmake_parse_arguments(
    PARSE_ARGV 1 ARG "" "EMIT;OUTPUT" "ARCH;INCLUDE_DIRECTORIES;DEFINITIONS;OPTIONS")
  _cdp_want_sources(add_cdp_cubin "${target}" ${ARG_UNPARSED_ARGUMENTS})
  _cdp_default_archs(archs)
  if(ARG_ARCH)
    set(archs "${ARG_ARCH}")
  endif()
  list(LENGTH archs count)
  set(emit "${ARG_EMIT}")
  if(NOT emit AND (count GREATER 1 OR archs STREQUAL "all"))
    set(emit fatbin)
  elseif(NOT emit)
    set(emit cubin)
  elseif(NOT emit MATCHES "^(cubin|fatbin|ptx)$")
    message(FATAL_ERROR "add_cdp_cubin(${target}): EMIT is cubin, fatbin or ptx, not ${emit}")
  endif()
  set(output "${ARG_OUTPUT}")
  if(NOT output)
    set(output "${target}.${emit}")
  endif()
  get_filename_component(output "${output}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  _cdp_command(command "${archs}"
    SOURCES ${ARG_UNPARSED_ARGUMENTS}
    INCLUDE_DIRECTORIES ${ARG_INCLUDE_DIRECTORIES}
    DEFINITIONS ${ARG_DEFINITIONS}
    OPTIONS "--emit=${emit}" ${ARG_OPTIONS})
  _cdp_rule("${output}" "device code" COMMAND ${command} SOURCES ${ARG_UNPARSED_ARGUMENTS})
  add_custom_target(${target} ALL DEPENDS "${output}")
  set_target_properties(${target} PROPERTIES CDP_OUTPUT "${output}")
endfunction()

function(add_cdp_object target)
  cmake_parse_arguments(
    PARSE_ARGV 1 ARG "" "OUTPUT" "ARCH;INCLUDE_DIRECTORIES;DEFINITIONS;OPTIONS")
  _cdp_want_sources(add_cdp_object "${target}" ${ARG_UNPARSED_ARGUMENTS})
  _cdp_default_archs(archs)
  set(output "${ARG_OUTPUT}")
  if(NOT output)
    set(output "${target}${CMAKE_CXX_OUTPUT_EXTENSION}")
    if(NOT CMAKE_CXX_OUTPUT_EXTENSION)
      set(output "${target}.o")
    endif()
  endif()
  get_filename_component(output "${output}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  _cdp_command(command "${archs}"
    SOURCES ${ARG_UNPARSED_ARGUMENTS}
    ARCH ${ARG_ARCH}
    INCLUDE_DIRECTORIES ${ARG_INCLUDE_DIRECTORIES}
    DEFINITIONS ${ARG_DEFINITIONS}
    OPTIONS --emit=obj ${ARG_OPTIONS})
  _cdp_rule("${output}" "object" COMMAND ${command} SOURCES ${ARG_UNPARSED_ARGUMENTS})
  add_custom_target(${target} ALL DEPENDS "${output}")
  set_target_properties(${target} PROPERTIES CDP_OUTPUT "${output}")
endfunction()

function(add_cdp_executable target)
  cmake_parse_arguments(
    PARSE_ARGV 1 ARG "" ""
    "ARCH;INCLUDE_DIRECTORIES;DEFINITIONS;OPTIONS;LINK_LIBRARIES;LINK_DIRECTORIES")
  _cdp_want_sources(add_cdp_executable "${target}" ${ARG_UNPARSED_ARGUMENTS})
  _cdp_default_archs(archs)
  set(libraries)
  foreach(folder IN LISTS ARG_LINK_DIRECTORIES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND libraries "-L${folder}")
  endforeach()
  foreach(library IN LISTS ARG_LINK_LIBRARIES)
    list(APPEND libraries "-l${library}")
  endforeach()
  _cdp_command(command "${archs}"
    SOURCES ${ARG_UNPARSED_ARGUMENTS}
    ARCH ${ARG_ARCH}
    INCLUDE_DIRECTORIES ${ARG_INCLUDE_DIRECTORIES}
    DEFINITIONS ${ARG_DEFINITIONS}
    OPTIONS --emit=exe ${libraries} ${ARG_OPTIONS})
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  # A custom command cannot make an executable target's file; an imported target stands for it. The
  # stamp is there because a dependency on the file would be taken for one on the imported target.
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.stamp")
  _cdp_rule("${output}" "program"
    STAMP "${stamp}" COMMAND ${command} SOURCES ${ARG_UNPARSED_ARGUMENTS})
  add_custom_target(${target}_build ALL DEPENDS "${stamp}")
  add_executable(${target} IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${output}")
  add_dependencies(${target} ${target}_build)
endfunction()
