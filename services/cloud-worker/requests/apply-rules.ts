import type { JsonObject } from '#shared/core/json.ts';
import { developerAsSystem, mapMessages, replayThinking } from '#shared/upstream/chat-messages.ts';

/**
 * How a chat request is changed for a provider that refuses a part of what clients send. Only hints are dropped: fields
 * that change nothing an answer is judged by. What would change the answer goes on, and the provider refuses it by name.
 */
export interface RequestRules {
  /** The one name under which the limit of output tokens is taken. Where a request has both, the newer name counts. */
  maxTokens?: 'max_tokens' | 'max_completion_tokens';
  /** Fields that have another name there. */
  rename?: Readonly<Record<string, string>>;
  /** Hints that are not known there. */
  drop?: readonly string[];
  /** Set where the role `developer` is not known. */
  developerAsSystem?: boolean;
  /** What an assistant's earlier thinking is called there; `none` where it is not taken. Absent: it goes as it came. */
  replayedThinking?: 'none' | 'reasoning' | 'reasoning_content';
}

/** The request as the rules have it. The one given is not changed. */
export function applyRules(given: JsonObject, rules: RequestRules): JsonObject {
  const request = { ...given };
  if (rules.maxTokens !== undefined) {
    const limit = request.max_completion_tokens ?? request.max_tokens;
    delete request.max_completion_tokens;
    delete request.max_tokens;
    if (limit !== undefined && limit !== null) request[rules.maxTokens] = limit;
  }
  for (const [name, other] of Object.entries(rules.rename ?? {})) {
    if (request[name] !== undefined) request[other] ??= request[name];
    delete request[name];
  }
  for (const name of rules.drop ?? []) delete request[name];
  return applyToMessages(request, rules);
}

function applyToMessages(request: JsonObject, { developerAsSystem: asSystem, replayedThinking }: RequestRules) {
  if (asSystem !== true && replayedThinking === undefined) return request;
  return mapMessages(request, (message) => {
    const renamed = asSystem === true ? developerAsSystem(message) : message;
    if (replayedThinking === undefined) return renamed;
    return replayThinking(renamed, replayedThinking === 'none' ? [] : [replayedThinking]);
  });
}
