// One folder for everything temporary of this process, which goes when the process ends, also when it is interrupted.
#pragma once

namespace ingot::cli {

/// Makes the folder and lets TMPDIR name it. SIGINT, SIGTERM, SIGHUP and SIGPIPE end the process as before, but remove it first.
void makeScratch();
void removeScratch();

/// After such a signal: waits for the end. What fails then does so because the folder has gone, and is not worth a message.
void yieldToSignal();

} // namespace ingot::cli
