import type { GoogleAuth } from 'google-auth-library';
import type { Provider } from '../provider.ts';
import { gemini } from './gemini.ts';

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];

/**
 * Gemini on Vertex AI at its endpoint of the chat format (Google Cloud, "Using OpenAI libraries with Vertex AI"). Google's library obtains
 * and renews the tokens, which expire after an hour. The library uses the credentials file that the key variable names, the machine's
 * account, or a login with `gcloud`. The endpoint has no list of models.
 */
export const vertex: Provider = {
  ...gemini,
  title: 'Google Vertex AI',
  traceName: 'gcp.vertex_ai',
  keyVariables: ['GOOGLE_APPLICATION_CREDENTIALS'],
  needs: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
  url({ GOOGLE_CLOUD_PROJECT: project, GOOGLE_CLOUD_LOCATION: location }) {
    const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
    return `https://${host}/v1/projects/${project}/locations/${location}/endpoints/openapi`;
  },
  keyless: true,
  authorize() {
    let auth: Promise<GoogleAuth> | undefined;
    return async () => {
      auth ??= import('google-auth-library').then((library) => new library.GoogleAuth({ scopes }));
      return Object.fromEntries(await (await auth).getRequestHeaders());
    };
  },
  list: undefined,
  otherFormats: [],
  fixedModels: () => ['google/gemini-2.5-flash', 'google/gemini-2.5-pro', 'google/gemini-2.5-flash-lite'],
};
