import { describe, expect, it } from 'vitest';
import { claudeDialogue } from '#services/cli-worker/clis/claude/claude-dialogue.ts';
import { codexDialogue } from '#services/cli-worker/clis/codex/codex.ts';
import { type AnswerContext, findTranslation } from '#shared/translate/translation.ts';
import { readRequests } from '../../../helpers/clis/read-requests.ts';

const patch = '*** Begin Patch\n*** End Patch';
const custom = { id: 'a', type: 'custom', custom: { name: 'apply_patch', input: patch } };
const body = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Edit.' },
    { role: 'assistant', tool_calls: [custom] },
    { role: 'tool', tool_call_id: 'a', content: 'Done.' },
    { role: 'user', content: 'More.' },
  ],
  tools: [{ type: 'custom', custom: { name: 'apply_patch' } }],
};
const json = JSON.stringify({ input: patch });

function mintedFor(recalled: AnswerContext['recalled']): AnswerContext {
  return { id: 'chatcmpl-1', model: 'm', created: 1, promptTokens: () => 1, recalled };
}

describe('custom tools of a chat client', () => {
  it('become functions of Codex, and calls of them become custom calls again', () => {
    const { items, tools } = readRequests(codexDialogue).chat(body);
    expect(tools).toMatchObject([{ name: 'apply_patch', inputSchema: { required: ['input'] } }]);
    expect(items).toContainEqual({ type: 'function_call', call_id: 'a', name: 'apply_patch', arguments: json });
    expect(items).toContainEqual({ type: 'function_call_output', call_id: 'a', output: 'Done.' });

    const translation = findTranslation(codexDialogue.translations, 'chat', codexDialogue.upstream);
    const answerContext = mintedFor(translation.recallFields?.(body));
    const part = { kind: 'call', index: 0, id: 'a', name: 'apply_patch', arguments: json } as const;
    const whole = codexDialogue.encodeWhole([part], { finishReason: 'tool_calls' });
    expect(translation.translateReply(whole, answerContext).body).toMatchObject({
      choices: [{ message: { tool_calls: [custom] } }],
    });
    expect(translation.createStream(answerContext).translateEvent(codexDialogue.encodePiece(part))).toContain(
      JSON.stringify(custom.custom),
    );
  });

  it('become tools of Claude Code, and calls of them become custom calls again', () => {
    const { history, fields } = readRequests(claudeDialogue).chat(body);
    expect(fields).toMatchObject({ tools: [{ name: 'apply_patch', input_schema: { required: ['input'] } }] });
    expect(history[1]?.blocks).toEqual([{ type: 'tool_use', id: 'a', name: 'apply_patch', input: { input: patch } }]);

    const translation = findTranslation(claudeDialogue.translations, 'chat', claudeDialogue.upstream);
    const content = [{ type: 'tool_use', id: 'a', name: 'apply_patch', input: { input: patch } }];
    const { body: answer } = translation.translateReply({ content }, mintedFor(translation.recallFields?.(body)));
    expect(answer).toMatchObject({ choices: [{ message: { tool_calls: [custom] } }] });
  });
});
