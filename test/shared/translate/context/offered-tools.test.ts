import { describe, expect, it } from 'vitest';
import type { MessagesMessage, MessagesRequest, MessagesTool } from '#shared/formats/messages/request.ts';
import { resolveOfferedTools } from '#shared/translate/context/offered-tools.ts';
import { said } from '../../../helpers/formats/said.ts';

const schema = { type: 'object' };
const read: MessagesTool = { name: 'Read', input_schema: schema };
const fetch: MessagesTool = { name: 'WebFetch', input_schema: schema, defer_loading: true };
// A placeholder that Claude Code keeps among its tools so that their loading stays deferred.
const placeholder: MessagesTool = { name: 'DeferredToolPlaceholder', input_schema: schema, defer_loading: true };

function namesFor(
  tools: MessagesTool[],
  messages: MessagesMessage[] = [],
  more: Partial<MessagesRequest> = {},
): string[] {
  return resolveOfferedTools({ model: 'm', messages, tools, ...more }).map(({ name }) => name);
}

describe('the tools that the router offers to an upstream of another format', () => {
  it('exclude deferred tools until a result refers to them', () => {
    const content = [{ type: 'tool_reference' as const, tool_name: 'WebFetch' }];
    const searched: MessagesMessage[] = [
      said('assistant', [{ type: 'tool_use', id: 't', name: 'ToolSearch', input: {} }]),
      said('user', [{ type: 'tool_result', tool_use_id: 't', content }]),
    ];
    expect(namesFor([read, fetch, placeholder])).toEqual(['Read']);
    expect(namesFor([read, fetch, placeholder], searched)).toEqual(['Read', 'WebFetch']);
  });

  it('include a deferred tool that was called, or that the choice requires', () => {
    const called: MessagesMessage[] = [said('assistant', [{ type: 'tool_use', id: 't', name: 'WebFetch', input: {} }])];
    expect(namesFor([read, fetch], called)).toEqual(['Read', 'WebFetch']);
    expect(namesFor([read, fetch], [], { tool_choice: { type: 'tool', name: 'WebFetch' } })).toContain('WebFetch');
  });

  it('are all tools but the search tool if the platform would search', () => {
    const search: MessagesTool = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
    expect(namesFor([search, read, fetch])).toEqual(['Read', 'WebFetch']);
  });

  it('change with the additions and removals of system messages, in order', () => {
    const change = (type: 'tool_addition' | 'tool_removal', tool: object): MessagesMessage =>
      said('system', [{ type, tool: { ...tool } }]);
    const grep = { type: 'tool_definition', definition: { name: 'Grep', input_schema: schema } };
    const named = (name: string) => ({ type: 'tool_reference', name });
    const additions = [grep, named('WebFetch')].map((tool) => change('tool_addition', tool));
    const removals = ['Read', 'Grep'].map((name) => change('tool_removal', named(name)));
    const messages = [...additions, ...removals, change('tool_addition', grep)];
    expect(namesFor([read, fetch], messages)).toEqual(['WebFetch', 'Grep']);
  });
});
