import type { Prompt } from '@modelcontextprotocol/server';
import type { ContentServer } from './content-servers.ts';

/** A prompt, with the server that has it, and the prompt's name on that server. */
export interface ServerPrompt {
  server: ContentServer;
  ownName: string;
  prompt: Prompt;
}

/**
 * Gives prompts unique names. A name that several servers use gets the name of its server as a prefix, as with tools, but that of a trusted
 * server changes only because of another trusted one. Of prompts with the same name after that, one of a trusted server stays, and one with a
 * prefix, so that no server can replace the prompt of another one.
 */
export function namePrompts(all: readonly ServerPrompt[]): ServerPrompt[] {
  const promptsByName = Map.groupBy(all, ({ ownName }) => ownName);
  const named = all.map((each): ServerPrompt => {
    const { server, ownName, prompt } = each;
    const isShared = promptsByName
      .get(ownName)
      ?.some((other) => other !== each && (other.server.isTrusted || !server.isTrusted));
    const prefix = isShared === true ? `${server.name.replaceAll(/[^\w-]/g, '-')}_` : '';
    return { ...each, prompt: { ...prompt, name: `${prefix}${ownName}` } };
  });
  const rank = ({ server, ownName, prompt }: ServerPrompt): number =>
    (server.isTrusted ? 2 : 0) + (ownName === prompt.name ? 0 : 1);
  const kept = new Map<string, ServerPrompt>();
  for (const each of named) {
    const rival = kept.get(each.prompt.name);
    if (!rival || rank(each) > rank(rival)) kept.set(each.prompt.name, each);
  }
  return named.filter((each) => kept.get(each.prompt.name) === each);
}
