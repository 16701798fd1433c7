/* An embedder's own functions that are called like those of libraries inside libwavejit.a. */
#include <stdlib.h>

#define OWN(name) \
    void name(void) { abort(); }

OWN(yaml_parser_initialize)
OWN(yaml_parser_parse)
OWN(yaml_parser_delete)
OWN(inflate)
OWN(inflateEnd)
OWN(adler32)
OWN(ZSTD_decompress)
OWN(ZSTD_getFrameContentSize)
OWN(_ZN6asmjit9CodeArena5resetEv)
OWN(_ZN6asmjit10CodeHolderC1Ev)
OWN(_ZN6asmjit7CpuInfo4hostEv)
