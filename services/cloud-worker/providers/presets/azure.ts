import { keyHeader, type Provider } from '../provider.ts';
import { allCapabilities } from '../read-cards.ts';
import { openai } from './openai.ts';

/**
 * Azure OpenAI at its v1 endpoint, which needs no API version (Microsoft Learn, "Azure OpenAI v1 API"). A request names a deployment, not a
 * model. The operator names the deployments, because no endpoint that accepts the key lists them.
 */
export const azure: Provider = {
  ...openai,
  title: 'Azure OpenAI',
  traceName: 'azure.ai.openai',
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
  // The name of a deployment is arbitrary, so it says nothing about the model.
  guess: () => allCapabilities,
};
