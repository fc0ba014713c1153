import { describe, expect, it } from 'vitest';
import type { Environment } from '#shared/core/load-config.ts';
import { CloudWorkers } from '../../../../services/rtr/up/cloud-workers.ts';
import type { SupervisedChild } from '../../../../services/rtr/up/supervised-child.ts';
import { welcome } from '../../../../services/rtr/up/welcome.ts';

const openai = { name: 'openai', title: 'OpenAI', keyVariable: 'OPENAI_API_KEY', missing: [] };
const bedrock = {
  name: 'bedrock',
  title: 'Amazon Bedrock',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  missing: ['AWS_REGION'],
};

describe('the cloud workers of a cluster', () => {
  it('are started for providers that can be asked, none with an address that could get the others’ keys', async () => {
    const started: Environment[] = [];
    const workers = new CloudWorkers((_, settings) => {
      started.push({ PROVIDER_URL: 'http://elsewhere', PROVIDER_KEY: 'k', ...settings });
      return Promise.resolve({ stop: () => Promise.resolve() } as unknown as SupervisedChild);
    });
    await workers.begin([openai, bedrock]);
    expect(
      started.map(({ PROVIDER, PROVIDER_URL, PROVIDER_KEY }) => ({ PROVIDER, PROVIDER_URL, PROVIDER_KEY })),
    ).toEqual([{ PROVIDER: 'openai', PROVIDER_URL: undefined, PROVIDER_KEY: undefined }]);
    await workers.stop();
  });

  it('are told of in the first lines, by the name of the variable, with what is missing', () => {
    const facts = {
      baseUrl: 'http://127.0.0.1:8484',
      chatFamily: 'openai',
      messagesFamily: 'anthropic',
      metricsUrl: 'http://127.0.0.1:8485/metrics',
      newKey: undefined,
      maskedKeys: [],
      engines: [],
      serving: true,
    };
    const text = welcome({ ...facts, providers: [openai, bedrock] });
    expect(text).toContain('  cloud     OpenAI (by OPENAI_API_KEY)\n');
    expect(text).toContain('Amazon Bedrock not yet: AWS_BEARER_TOKEN_BEDROCK is set, AWS_REGION not');
    expect(text).not.toContain('demo engine');
    expect(welcome({ ...facts, providers: [] })).not.toContain('cloud ');
  });
});
