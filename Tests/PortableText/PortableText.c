// Compiles the functions once more, for processors that are not known.

#include "CPortableText.h"

#ifndef PORTABLE
#define PORTABLE
#endif
#define text_pass portable_pass
#define text_valid_utf8 portable_valid_utf8
#define text_unescape portable_unescape
#define text_escape portable_escape

#include "../../Sources/CText/Text.c"
