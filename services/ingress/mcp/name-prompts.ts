import type { Prompt } from '@modelcontextprotocol/server';
import { createToolPrefix } from '#shared/core/valid-names.ts';
import type { ContentServer } from './content-servers.ts';

/** A prompt, with the server that has it, and the prompt's name on that server. */
export interface ServerPrompt {
  server: ContentServer;
  ownName: string;
  prompt: Prompt;
}

/**
 * Gives prompts unique names. A name that several servers use gets the name of its server as a prefix, as with tools. A prompt of a trusted
 * server gets the prefix only if another trusted server uses the name. If prompts still have the same name, one of them is kept: a prompt
 * of a trusted server before others, then a prompt with a prefix. Therefore, no server can replace the prompt of another server.
 */
export function namePrompts(serverPrompts: readonly ServerPrompt[]): ServerPrompt[] {
  const promptsByName = Map.groupBy(serverPrompts, ({ ownName }) => ownName);
  const named = serverPrompts.map((entry): ServerPrompt => {
    const { server, ownName, prompt } = entry;
    const isShared = promptsByName
      .get(ownName)
      ?.some((other) => other !== entry && (other.server.isTrusted || !server.isTrusted));
    const prefix = isShared === true ? createToolPrefix(server.name) : '';
    return { ...entry, prompt: { ...prompt, name: `${prefix}${ownName}` } };
  });
  const computeRank = ({ server, ownName, prompt }: ServerPrompt): number =>
    (server.isTrusted ? 2 : 0) + (ownName === prompt.name ? 0 : 1);
  const kept = new Map<string, ServerPrompt>();
  for (const entry of named) {
    const rival = kept.get(entry.prompt.name);
    if (!rival || computeRank(entry) > computeRank(rival)) kept.set(entry.prompt.name, entry);
  }
  return named.filter((entry) => kept.get(entry.prompt.name) === entry);
}
