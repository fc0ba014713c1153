import { resolve } from 'node:path';

/**
 * Returns the environment of a cli-worker whose model `cat` answers with its prompt.
 * @param ms milliseconds until the answer
 */
export function slowCat(ms = 0): Record<string, string> {
  return {
    CLI_KIND: 'command',
    CLI_COMMAND: `${process.execPath} ${resolve('test/helpers/processes/slow-cat.mjs')} ${ms}`,
    CLI_MODELS: 'cat',
  };
}

/**
 * Returns the environment of a cloud-worker for an upstream of any address.
 * @param format format of its models
 */
export function customProvider(url: string, format: 'chat' | 'messages' | 'responses'): Record<string, string> {
  return { PROVIDER: 'custom', PROVIDER_FORMAT: format, PROVIDER_URL: `${url}/v1`, PROVIDER_KEY: 'none' };
}
