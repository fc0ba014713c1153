import { get } from 'node:http';

/*
 * The image's health check: requests /health on the component's admin port, or HEALTH_URL. It fails unless the answer is 200 within four
 * seconds.
 */

const url = process.env.HEALTH_URL ?? `http://127.0.0.1:${process.env.ADMIN_PORT ?? 8485}/health`;
const request = get(url, { timeout: 4_000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', () => process.exit(1));
