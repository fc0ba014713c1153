import { resolve } from 'node:path';

/** The environment of a cli-worker whose model `cat` answers with its prompt. @param ms how long it takes */
export function slowCat(ms = 0): Record<string, string> {
  return {
    CLI_KIND: 'command',
    CLI_COMMAND: `${process.execPath} ${resolve('test/helpers/processes/slow-cat.mjs')} ${ms}`,
    CLI_MODELS: 'cat',
  };
}

/** The environment of a cloud-worker for an upstream of any address. @param format which its models speak */
export function customProvider(url: string, format: 'chat' | 'messages' | 'responses'): Record<string, string> {
  return { PROVIDER: 'custom', PROVIDER_FORMAT: format, PROVIDER_URL: `${url}/v1`, PROVIDER_KEY: 'none' };
}
