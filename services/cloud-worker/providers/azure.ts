import { keyHeader } from './authorize.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider.ts';
import { allCapabilities } from './read-cards.ts';

/**
 * Azure OpenAI by its v1 endpoint, which needs no API version (Microsoft Learn, "Azure OpenAI v1 API"). A request names a
 * deployment, not a model, and nothing that a key opens lists these: the operator does.
 */
export const azure: Provider = {
  ...openai,
  title: 'Azure OpenAI',
  keyVariables: ['AZURE_OPENAI_API_KEY'],
  needs: ['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_DEPLOYMENT'],
  url: ({ AZURE_OPENAI_ENDPOINT: endpoint = '' }) =>
    `${endpoint.replace(/\/+$/, '').replace(/\/openai(\/v1)?$/, '')}/openai/v1`,
  authorize: keyHeader('api-key'),
  list: undefined,
  fixedModels: ({ AZURE_OPENAI_DEPLOYMENT: names = '' }) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  // Deployments have any names.
  guess: () => allCapabilities,
};
