import { describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { JsonRpcError } from '#services/cli-worker/process/json-rpc-peer.ts';
import { toLoggableError } from '#shared/core/loggable-error.ts';

const secret = 'what the client said';

function parseFailure(): unknown {
  try {
    return JSON.parse(secret);
  } catch (error) {
    return error;
  }
}

const worded = new JsonRpcError({ code: -1, message: secret });

describe('an error in a log line', () => {
  it.each([
    ['a parser’s', parseFailure()],
    ['an upstream’s refusal', new RouterError('invalid_request', `Failed to parse: ${secret}`)],
    ['one whose cause is a sentence', new RouterError('upstream_failed', 'The upstream failed.', { cause: secret })],
    ['one that a CLI worded', new RouterError('upstream_failed', 'The CLI refused.', { cause: worded })],
    ['one whose cause quotes', new RouterError('internal', 'The router failed.', { cause: parseFailure() })],
  ])('does not quote a client or a model: %s', (_, error) => {
    const line = JSON.stringify(toLoggableError(error));
    expect(line).not.toContain(secret.slice(0, 8));
    expect(line).toContain('"type"');
  });

  it('contains the facts that an operator needs', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const logged = toLoggableError(new RouterError('upstream_failed', 'The engine is away.', { cause: refused }));
    const cause = { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' };
    expect(logged).toMatchObject({
      type: 'RouterError',
      code: 'upstream_failed',
      message: 'The engine is away.',
      cause,
    });
    expect(logged?.stack).toContain('loggable-error.test.ts');
  });
});
