import { describe, expect, it } from 'vitest';
import { findProviders } from '#services/cloud-worker/providers/find-providers.ts';
import { presets } from '#services/cloud-worker/providers/provider-of.ts';

describe('the providers found in an environment', () => {
  it('are those with a key in their usual variable', () => {
    const environment = { OPENAI_API_KEY: 'sk-x', ANTHROPIC_API_KEY: ' ', GOOGLE_API_KEY: 'AIza', PATH: '/bin' };
    expect(findProviders(environment)).toEqual([
      { name: 'openai', title: 'OpenAI', keyVariable: 'OPENAI_API_KEY', missing: [] },
      { name: 'gemini', title: 'Google Gemini', keyVariable: 'GOOGLE_API_KEY', missing: [] },
    ]);
  });

  it('name the variables that are still missing', () => {
    const found = findProviders({
      AWS_BEARER_TOKEN_BEDROCK: 'x',
      AZURE_OPENAI_API_KEY: 'y',
      AZURE_OPENAI_ENDPOINT: 'z',
    });
    expect(found.map(({ name, missing }) => [name, missing])).toEqual([
      ['azure', ['AZURE_OPENAI_DEPLOYMENT']],
      ['bedrock', ['AWS_REGION']],
      ['bedrock-claude', ['AWS_REGION']],
    ]);
  });

  it("exclude variables with one of the router's own keys, as its clients have", () => {
    expect(findProviders({ OPENAI_API_KEY: 'rtr_abc_def', ANTHROPIC_API_KEY: 'user.abc.def' })).toEqual([]);
  });

  it('each have a variable that turns them on', () => {
    for (const [name, { keyVariables, needs }] of Object.entries(presets)) {
      const environment = Object.fromEntries(
        [...keyVariables.slice(0, 1), ...needs].map((variable) => [variable, 'x']),
      );
      expect(findProviders(environment).find((found) => found.name === name)?.missing).toEqual([]);
    }
  });
});
