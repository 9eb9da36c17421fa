// Included before the C++ that npm ci compiles here on Node 24 and later, for better-sqlite3 12. From Node 24.19 on,
// node::ObjectWrap takes a cleanup hook back in its destructor, which aborts the process when the garbage collector
// runs while no context is entered (https://github.com/nodejs/node/issues/65446). This leaves the hook out, as in
// Node 20 and 22. better-sqlite3 13 does without ObjectWrap, but does not run on Node 20.
#pragma once
#define OSTLER_JOIN_TOKENS(one, other) one##other
#define OSTLER_JOIN(one, other) OSTLER_JOIN_TOKENS(one, other)
#define OSTLER_MODULE_better_sqlite3 1

#if OSTLER_JOIN(OSTLER_MODULE_, NODE_GYP_MODULE_NAME)
#include <node.h>
#define AddEnvironmentCleanupHook(isolate, hook, argument) static_cast<void>(0)
#define RemoveEnvironmentCleanupHook(isolate, hook, argument) static_cast<void>(0)
#include <node_object_wrap.h>
#undef AddEnvironmentCleanupHook
#undef RemoveEnvironmentCleanupHook
#endif
