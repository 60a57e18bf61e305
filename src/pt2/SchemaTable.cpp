// Puts aten_schemas.txt into the binary as it is: no start-up cost, no huge string literal.
#include "pt2/Schema.h"

#ifndef INGOT_SCHEMA_FILE
#error "the build defines INGOT_SCHEMA_FILE as the path of aten_schemas.txt"
#endif

__asm__(".section .rodata.ingot_schemas,\"a\",@progbits\n"
        ".globl ingotSchemaBegin\n"
        ".hidden ingotSchemaBegin\n"
        "ingotSchemaBegin:\n"
        ".incbin \"" INGOT_SCHEMA_FILE "\"\n"
        ".globl ingotSchemaEnd\n"
        ".hidden ingotSchemaEnd\n"
        "ingotSchemaEnd:\n"
        ".byte 0\n"
        ".previous\n");

extern "C" {
extern const char ingotSchemaBegin[];
extern const char ingotSchemaEnd[];
}

std::string_view ingot::pt2::schemaTable() {
  return {ingotSchemaBegin, static_cast<size_t>(ingotSchemaEnd - ingotSchemaBegin)};
}
