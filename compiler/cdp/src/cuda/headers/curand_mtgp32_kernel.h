/* clang's wrapper of CUDA's headers includes this part of cuRAND in every file. It belongs to a library
   that a program asks for by itself, so that nothing stands here. */
