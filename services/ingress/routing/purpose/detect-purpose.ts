import type { IncomingHttpHeaders } from 'node:http';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import { noPurpose, parsePurpose, type RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';
import { claudeCode } from './claude-code.ts';
import { type ClientProgram, readSessionName } from './client-program.ts';
import { codex } from './codex.ts';
import { opencode } from './opencode.ts';

/** Header in which any client names the purpose of its request. A value that is not a purpose is ignored. */
const header = 'x-rtr-purpose';

/** Header in which any client names the agent session that its request belongs to. A value that is not a valid name is ignored. */
const sessionHeader = 'x-rtr-session';

const programs: readonly ClientProgram[] = [claudeCode, codex, opencode];

/**
 * Determines the purpose of a request and the agent session that the request belongs to. The purpose comes from `x-rtr-purpose`, otherwise
 * from the body, otherwise from the signs of the program that sent the request. The session comes from the program's headers, otherwise
 * from `x-rtr-session`.
 * @param signs signs of the purpose in the body; undefined for a format without such signs
 */
export function detectPurpose(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose {
  const recognized = programs.find((each) => each.isSender(headers))?.read(headers, signs);
  const stated = headers[header] === undefined ? undefined : parsePurpose(headers[header]);
  const purpose = stated ?? (signs?.isCompaction ? 'compaction' : recognized?.purpose);
  const turn = recognized?.turn ?? readNamedTurn(headers);
  return purpose || recognized || turn ? { purpose, agentType: recognized?.agentType, turn } : noPurpose;
}

function readNamedTurn(headers: IncomingHttpHeaders): AgentTurn | undefined {
  const session = readSessionName(headers[sessionHeader]);
  return session === undefined ? undefined : { program: 'other', session };
}
