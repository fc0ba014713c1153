import type { IncomingHttpHeaders } from 'node:http';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import { purposeNamed, type RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';
import { claudeCode } from './claude-code.ts';
import type { ClientProgram } from './client-program.ts';
import { codex } from './codex.ts';
import { opencode } from './opencode.ts';
import { sessionName } from './session-name.ts';

/** Header in which any client says what its request is for. A value that is no purpose is ignored. */
const header = 'x-rtr-purpose';

/** Header in which any client names the session that its request is a turn of. A value that is no name is ignored. */
const sessionHeader = 'x-rtr-session';

const programs: readonly ClientProgram[] = [claudeCode, codex, opencode];

/**
 * What a request is for: as `x-rtr-purpose` says, else its format, else the program that sent it. And the session that it is a turn of: as
 * the program says, else `x-rtr-session`.
 * @param signs those of the body; undefined if it has none
 */
export function purposeOf(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose {
  const program = programs.find((each) => each.isSender(headers));
  const read = program?.read(headers, signs);
  return {
    purpose: purposeNamed(headers[header]) ?? (signs?.compacts ? 'compaction' : read?.purpose),
    agentType: read?.agentType,
    turn: read?.turn ?? namedTurn(headers),
  };
}

function namedTurn(headers: IncomingHttpHeaders): AgentTurn | undefined {
  const session = sessionName(headers[sessionHeader]);
  return session === undefined ? undefined : { program: 'other', session };
}
