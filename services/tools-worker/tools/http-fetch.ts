import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import { createPublicFetch, readBounded, type PublicFetchOptions } from '#shared/public-fetch/public-fetch.ts';
import { version } from '#shared/core/version.ts';
import { createDomainFilter } from '#shared/formats/hosted/domain-filter.ts';
import { defineTool, z, type OwnTool, type ToolReturn } from '../own/define-tool.ts';

const timeoutMs = 20_000;
const maxBytes = 4 * 1024 * 1024;
const defaultCharacters = 50_000;

const textTypes =
  /^(text\/.*|application\/(.*\+)?(json|xml|javascript|yaml|x-yaml|toml|x-ndjson|x-www-form-urlencoded))$/;
const domains = z.array(z.string().min(1).max(255)).max(200).optional();
const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * Creates the tool `http_fetch`, which gets a page, a document or an image with GET, from public addresses only.
 * @param options set only by tests
 */
export function createHttpFetch(options: Pick<PublicFetchOptions, 'isAllowed' | 'lookup'> = {}): OwnTool {
  const headers = {
    'user-agent': `model-router/${version}`,
    accept: 'text/*, application/json, image/*;q=0.8, */*;q=0.5',
  };
  const publicFetch = createPublicFetch({ timeoutMs, headers, ...options });
  return defineTool({
    name: 'http_fetch',
    description:
      'Gets the content of an address on the public internet with HTTP GET: text as text, pictures as pictures. ' +
      'Addresses of private networks are refused.',
    input: z.object({
      url: z
        .string()
        .max(8192)
        .refine((text) => isHttp(text), 'must be an http or https address')
        .describe('Address, beginning with http:// or https://'),
      max_characters: z
        .int()
        .min(1)
        .max(maxBytes)
        .default(defaultCharacters)
        .describe('Text is cut off after so many characters'),
      allowed_domains: domains.describe(
        'Only pages of these domains, and of domains below them, are fetched, after redirects too; `example.com/blog` allows a path',
      ),
      blocked_domains: domains.describe('Pages of these domains are not fetched'),
    }),
    run: ({ url, max_characters: maxCharacters, allowed_domains: allowed, blocked_domains: blocked }, { signal }) => {
      const isAllowedUrl = createDomainFilter(allowed, blocked);
      const address = new URL(url);
      return publicFetch(
        address,
        (answer) => readAnswer(answer, maxCharacters),
        signal,
        isAllowedUrl && (({ href }) => isAllowedUrl(href)),
      ).catch((error: unknown) => {
        if (error instanceof PublicFetchError) return toFailedOutput(error);
        throw error;
      });
    },
  });
}

/** Returns the output for a failed fetch: the reason, and the URL if the fetch refused a page. */
function toFailedOutput({ message, refusedUrl }: PublicFetchError): ToolReturn {
  const content = [{ type: 'text' as const, text: `It was not fetched: ${message}.` }];
  return { content, ...(refusedUrl && { structuredContent: { url: refusedUrl.href } }), isError: true };
}

async function readAnswer(answer: Parameters<typeof readBounded>[0], maxCharacters: number): Promise<ToolReturn> {
  const { status, url, headers } = answer;
  const [type, charset] = readMediaType(headers['content-type']);
  const facts = { url: url.href, status, content_type: type };
  const body = await readBounded(answer, maxBytes);
  if (imageTypes.has(type) && status === 200) {
    return {
      content: [{ type: 'image', mimeType: type, data: body.toString('base64') }],
      structuredContent: { ...facts, truncated: false },
    };
  }
  if (body.length > 0 && !textTypes.test(type))
    throw new PublicFetchError(`it is no text but ${type || 'of unknown type'}`);
  const text = decodeText(body, charset);
  const shownText = text.slice(0, maxCharacters);
  return {
    // The page of an error status is shown, because it may contain the reason.
    content: [
      { type: 'text', text: status < 400 ? shownText : `The server answered with status ${status}.\n\n${shownText}` },
    ],
    structuredContent: { ...facts, truncated: shownText.length < text.length },
    isError: status >= 400,
  };
}

function isHttp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

/** Returns a media type in lower case, and its charset parameter. */
function readMediaType(contentType = ''): [string, string | undefined] {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  return [type.trim(), charset];
}

function decodeText(body: Buffer, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder().decode(body);
    throw error;
  }
}
