import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** Maximum milliseconds for one request. */
const defaultTimeoutMs = 5_000;

/** Maximum number of characters of an answer. */
const maxLength = 4 * 1024 * 1024;

/**
 * @typedef {object} Outgoing
 * @property {Record<string, string>} [headers]
 * @property {string} [form] body of a POST request; without it, the request is a GET or HEAD
 * @property {boolean} [headOnly] whether only the status is needed
 * @property {number} [timeoutMs]
 */

/**
 * Sends a request and returns the answer, whatever its status. Does not follow redirects. Does not use `fetch`, because in Node 20 its
 * promise may never settle if the connection is closed at once.
 * @param {string} url
 * @param {Outgoing} [outgoing]
 * @returns {Promise<{ status: number, text: string }>}
 */
export function send(url, { headers = {}, form, headOnly = false, timeoutMs = defaultTimeoutMs } = {}) {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  const bodyHeaders = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    const outgoingRequest = request(url, {
      method: form !== undefined ? 'POST' : headOnly ? 'HEAD' : 'GET',
      headers: { ...headers, ...bodyHeaders, accept: 'application/json', connection: 'close' },
    });
    const timer = setTimeout(
      () => outgoingRequest.destroy(new Error(`no answer in ${timeoutMs / 1_000} s`)),
      timeoutMs,
    );
    outgoingRequest.once('close', () => clearTimeout(timer));
    outgoingRequest.once('error', reject);
    outgoingRequest.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
        if (text.length > maxLength) outgoingRequest.destroy(new Error('the answer is too long'));
      });
      answer.once('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoingRequest.end(form);
  });
}
