import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { chooseAcceptedEffort, readMinimalEffort, replaceEffort } from '#shared/upstream/minimal-thinking.ts';

it.each([
  [{ reasoning_effort: 'none' }, { reasoning_effort: 'low' }],
  [{ reasoning_effort: 0 }, { reasoning_effort: 'low' }],
  [{ reasoning: { effort: 'none', summary: 'auto' } }, { reasoning: { effort: 'low', summary: 'auto' } }],
  [{ reasoning: { enabled: false } }, { reasoning: {} }],
  [{ reasoning: { max_tokens: 0 } }, { reasoning: {} }],
  [{ thinking: { type: 'disabled' } }, {}],
])('a request for the lowest thinking is recognized and gets another level: %j', (request, changed) => {
  const whole = { model: 'm', ...request };
  expect(readMinimalEffort(whole)).toBe('none');
  expect(replaceEffort(whole, 'low', false)).toEqual({ model: 'm', ...changed });
});

it('a request for the lowest thinking has an effort in place of disabled thinking in the messages format, unless the client names one', () => {
  const request = { thinking: { type: 'disabled' } };
  expect(replaceEffort(request, 'low', true)).toEqual({ output_config: { effort: 'low' } });
  const asked = { ...request, output_config: { effort: 'medium' } };
  expect(replaceEffort(asked, 'low', true)).toEqual({ output_config: { effort: 'medium' } });
  expect(asked.thinking).toEqual({ type: 'disabled' });
});

it.each([{}, { reasoning_effort: 'low' }, { reasoning: { max_tokens: 5 } }, { thinking: { type: 'enabled' } }])(
  'a request for the lowest thinking is not recognized in %j',
  (request) => expect(readMinimalEffort(request)).toBeUndefined(),
);

const after = (message: string, param?: string) =>
  chooseAcceptedEffort(new RouterError('invalid_request', message, { param }), 'none');

it.each([
  // OpenAI at both paths, Google, Anthropic.
  ["'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low'.", 'minimal'],
  ["Unsupported value: 'none' is not supported with the 'g' model. Supported values are: 'high'.", 'high'],
  ['Budget 0 is invalid. This model only works in thinking mode.', 'low'],
  ['"thinking.type.disabled" is not supported for this model.', 'low'],
])('a refusal of the lowest thinking gives the lowest listed level, or low: %s', (message, level) =>
  expect(after(message)).toBe(level),
);

it('a refusal of the lowest thinking is not recognized in other errors', () => {
  expect(after('Invalid image.')).toBeUndefined();
  expect(chooseAcceptedEffort(new RouterError('upstream_failed', 'thinking'), 'none')).toBeUndefined();
  expect(chooseAcceptedEffort(new Error('thinking'), 'none')).toBeUndefined();
});
