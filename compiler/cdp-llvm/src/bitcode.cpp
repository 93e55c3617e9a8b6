// A look at bitcode before LLVM's reader gets it.
//
// The reader takes some numbers at their word and makes room for as many things as they say, so that one
// damaged byte can take all memory of the machine. Here a module's blocks are walked without building
// anything, and such numbers are refused. This is no check that bitcode is valid: what else is wrong with
// it the reader reports.

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

using namespace llvm;

namespace {

/// Blocks within blocks; LLVM's writer goes to 4.
constexpr unsigned MaxDepth = 16;

/// Of parameters that attributes are for: the reader makes a list with a place for each up to the last.
constexpr uint64_t MaxParam = 65536;

/// The attribute group index that means the function itself.
constexpr uint64_t FunctionIndex = 0xFFFFFFFF;

class Check {
public:
  explicit Check(uint64_t Bytes) : MaxCount(Bytes * 8) {}

  /// Walks a block's records to its end; false when that cannot be read or something was refused.
  bool walk(BitstreamCursor &Stream, unsigned Block, unsigned Depth);

  /// Why the bitcode is refused; empty if it is not.
  std::string Refusal;

private:
  /// A value of anything takes a bit at least.
  uint64_t MaxCount;
  /// Abbreviations that blocks of a kind begin with.
  std::optional<BitstreamBlockInfo> Info;

  bool nested(BitstreamCursor &Stream, unsigned Block, unsigned Depth);
  bool blockInfo(BitstreamCursor &Stream);
  void record(unsigned Block, unsigned Code, ArrayRef<uint64_t> Values);
  void count(const char *Things, ArrayRef<uint64_t> Values, size_t At);
};

/// Takes the value, or drops the error: the reader finds it again.
template <typename T> std::optional<T> take(Expected<T> Value) {
  if (Value)
    return std::move(*Value);
  consumeError(Value.takeError());
  return std::nullopt;
}

/// Whether blocks of this kind have something to check, or hold such blocks.
bool hasCounts(unsigned Block) {
  switch (Block) {
  case bitc::MODULE_BLOCK_ID:
  case bitc::PARAMATTR_GROUP_BLOCK_ID:
  case bitc::TYPE_BLOCK_ID_NEW:
  case bitc::FUNCTION_BLOCK_ID:
  case bitc::METADATA_BLOCK_ID:
    return true;
  default:
    return false;
  }
}

bool Check::walk(BitstreamCursor &Stream, unsigned Block, unsigned Depth) {
  SmallVector<uint64_t, 64> Values;
  while (Refusal.empty() && !Stream.AtEndOfStream()) {
    std::optional<BitstreamEntry> Entry = take(Stream.advance());
    if (!Entry)
      return false;
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return false;
    case BitstreamEntry::EndBlock:
      return true;
    case BitstreamEntry::SubBlock:
      if (!nested(Stream, Entry->ID, Depth + 1))
        return false;
      break;
    case BitstreamEntry::Record:
      Values.clear();
      StringRef Blob;
      std::optional<unsigned> Code = take(Stream.readRecord(Entry->ID, Values, &Blob));
      if (!Code)
        return false;
      record(Block, *Code, Values);
      break;
    }
  }
  return false;
}

bool Check::nested(BitstreamCursor &Stream, unsigned Block, unsigned Depth) {
  if (Block == bitc::BLOCKINFO_BLOCK_ID)
    return blockInfo(Stream);
  if (Depth < MaxDepth && hasCounts(Block)) {
    // In a copy: a block that cannot be read is passed over by its size, as the reader does with
    // functions.
    BitstreamCursor Inner = Stream;
    Error Failed = Inner.EnterSubBlock(Block);
    bool Entered = !Failed;
    consumeError(std::move(Failed));
    if (Entered && walk(Inner, Block, Depth)) {
      Stream = std::move(Inner);
      return true;
    }
    if (!Refusal.empty())
      return false;
  }
  Error Failed = Stream.SkipBlock();
  bool Skipped = !Failed;
  consumeError(std::move(Failed));
  return Skipped;
}

bool Check::blockInfo(BitstreamCursor &Stream) {
  auto Read = take(Stream.ReadBlockInfoBlock());
  if (!Read || !*Read)
    return false;
  Info = std::move(**Read);
  Stream.setBlockInfo(&*Info);
  return true;
}

void Check::record(unsigned Block, unsigned Code, ArrayRef<uint64_t> Values) {
  switch (Block) {
  case bitc::PARAMATTR_GROUP_BLOCK_ID:
    if (Code == bitc::PARAMATTR_GRP_CODE_ENTRY && Values.size() > 1 && Values[1] > MaxParam &&
        Values[1] != FunctionIndex)
      Refusal = "attribute group " + std::to_string(Values[0]) + " is for parameter " +
                std::to_string(Values[1]) + ", and functions have at most " +
                std::to_string(MaxParam);
    break;
  case bitc::TYPE_BLOCK_ID_NEW:
    if (Code == bitc::TYPE_CODE_NUMENTRY)
      count("types", Values, 0);
    break;
  case bitc::FUNCTION_BLOCK_ID:
    if (Code == bitc::FUNC_CODE_DECLAREBLOCKS)
      count("basic blocks in a function", Values, 0);
    else if (Code == bitc::FUNC_CODE_INST_LANDINGPAD)
      count("clauses of a landing pad", Values, 2);
    break;
  case bitc::METADATA_BLOCK_ID:
    if (Code == bitc::METADATA_STRINGS)
      count("metadata strings", Values, 0);
    break;
  default:
    break;
  }
}

void Check::count(const char *Things, ArrayRef<uint64_t> Values, size_t At) {
  if (At < Values.size() && Values[At] > MaxCount)
    Refusal = "it announces " + std::to_string(Values[At]) + " " + Things +
              ", and its size leaves room for " + std::to_string(MaxCount) + " at most";
}

} // namespace

/// Why bitcode (with or without its wrapper) must not be given to LLVM's reader, to be freed with
/// `LLVMDisposeMessage`; null if it may.
extern "C" char *cdp_bitcode_refusal(const uint8_t *Bytes, size_t Size) {
  const unsigned char *Begin = Bytes;
  const unsigned char *End = Bytes + Size;
  if (Size < 4)
    return nullptr;
  if (isBitcodeWrapper(Begin, End) && SkipBitcodeWrapperHeader(Begin, End, true))
    return nullptr;
  if (!isRawBitcode(Begin, End))
    return nullptr;
  BitstreamCursor Stream(ArrayRef<uint8_t>(Begin, End));
  // The magic number.
  if (!take(Stream.Read(32)))
    return nullptr;
  Check Check(End - Begin);
  Check.walk(Stream, ~0u, 0);
  return Check.Refusal.empty() ? nullptr : LLVMCreateMessage(Check.Refusal.c_str());
}
