import type { IncomingHttpHeaders } from 'node:http';
import { purposeNamed, type RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';
import { claudeCode } from './claude-code.ts';
import type { ClientProgram } from './client-program.ts';
import { codex } from './codex.ts';
import { opencode } from './opencode.ts';

/** Header in which any client says what its request is for. A value that is no purpose is ignored. */
const header = 'x-rtr-purpose';

const programs: readonly ClientProgram[] = [claudeCode, codex, opencode];

/**
 * What a request is for: as `x-rtr-purpose` says, else its format, else the program that sent it.
 * @param signs those of the body; undefined if it has none
 */
export function purposeOf(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose {
  const program = programs.find((each) => each.isSender(headers));
  const shown = signs?.compacts ? 'compaction' : program?.purposeOf(headers, signs);
  return { purpose: purposeNamed(headers[header]) ?? shown, agentType: program?.agentTypeOf?.(headers) };
}
