import type { Overflow } from '#shared/formats/context-overflow.ts';

/** Messages of upstreams about requests that exceed the context window, each with a function that reads the numbers in the message. */
const overflowTexts: readonly { pattern: RegExp; read: (numbers: readonly number[]) => Overflow }[] = [
  // Anthropic.
  {
    pattern: /prompt is too long: (\d+) tokens > (\d+) maximum/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  {
    pattern: /input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/,
    read: ([input, output, maximum]) => ({ input, output, maximum }),
  },
  // OpenAI and older vLLM: the total, then its parts.
  {
    pattern:
      /maximum context length is (\d+) tokens\. However, you requested \d+ tokens \((\d+) in the messages, (\d+) in the completion\)/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  // Newer vLLM stops counting the input one token after it no longer fits, and does not count a text with too many characters.
  {
    pattern:
      /maximum context length is (\d+) tokens\. However, (?:you requested (\d+) output tokens and )?your prompt contains (?:at least (\d+) input|\d+ characters)/,
    read: readPartialCount,
  },
  {
    pattern:
      /passed (?:(\d+) input tokens|\d+ input characters) and requested (\d+) output tokens\. However, the model's context length is only (\d+)/,
    read: ([minInput, output, maximum]) => readPartialCount([maximum, output, minInput]),
  },
  {
    pattern:
      /maximum context length is (\d+) tokens\. However, you requested (\d+) output tokens and your prompt contains (\d+) input/,
    read: ([maximum, output, input]) => ({ input, output, maximum }),
  },
  {
    pattern: /max(?:_\w+)?_tokens=(\d+) ?cannot be greater than [a-z_=]*=(\d+)/,
    read: ([output, maximum]) => ({ output, maximum }),
  },
  // OpenRouter, which estimates.
  {
    pattern:
      /maximum context length is (\d+) tokens\. However, you requested about \d+ tokens \((\d+) of text input(?:, (\d+) of tool input)?, (\d+) in the output\)/,
    read: ([maximum, text = 0, tools = 0, output]) => ({ input: text + tools, output, maximum }),
  },
  {
    pattern: /maximum context length is (\d+) tokens\. However, you requested about \d+ tokens \((\d+) of text input\)/,
    read: ([maximum, input]) => ({ input, maximum }),
  },
  // Newer vLLM: the output exceeds the remaining context.
  {
    pattern:
      /is too large: (\d+)\. This model's maximum context length is (\d+) tokens and your request has (\d+) input tokens/,
    read: ([output, maximum, input]) => ({ input, output, maximum }),
  },
  // OpenAI, and vLLM for input alone.
  {
    pattern: /maximum context length is (\d+) tokens\. However, your (?:messages|request|prompt|input)[^.]*?(\d+)/,
    read: ([maximum, input]) => ({ input, maximum }),
  },
  {
    pattern: /exceed the configured limit of (\d+) tokens\. Your messages resulted in (\d+) tokens/,
    read: ([maximum, input]) => ({ input, maximum }),
  },
  // SGLang.
  {
    pattern:
      /maximum context length of (\d+) tokens\. You requested a total of \d+ tokens: (\d+) tokens from the input messages and (\d+) tokens/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  {
    pattern: /input \((\d+) tokens\) is longer than the model's context length \((\d+) tokens\)/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  // llama.cpp.
  {
    pattern: /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  // llama.cpp, for embeddings and rankings of an input that is longer than a batch.
  {
    pattern:
      /input \((\d+) tokens\) is too large to process\. increase the physical batch size \(current batch size: (\d+)\)/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  // Text Generation Inference.
  {
    pattern: /must be <= (\d+)\. Given: (\d+) `inputs` tokens and (\d+) `max_new_tokens`/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  // LM Studio, Ollama and others, which report only the limit, or nothing.
  { pattern: /loaded with context length of only (\d+) tokens/, read: ([maximum]) => ({ maximum }) },
  { pattern: /maximum context length (?:is|of) (\d+)/, read: ([maximum]) => ({ maximum }) },
  { pattern: /prompt is too long|input length exceeds|exceeds the available context size/, read: () => ({}) },
];

/**
 * Returns the counts of a message that gives only a minimum of the input tokens. Omits the output tokens if the input alone exceeds the
 * maximum.
 */
function readPartialCount([maximum = 0, output = 0, minInput = 0]: readonly (number | undefined)[]): Overflow {
  return output === 0 || minInput > maximum ? { maximum } : { output, maximum };
}

/** Reads the token counts from an upstream's message about a request that exceeds the context window; undefined for any other message. */
export function readOverflowText(message: string): Overflow | undefined {
  for (const { pattern, read } of overflowTexts) {
    const match = pattern.exec(message);
    // A part that the message does not name counts as 0 tokens.
    if (match) return read(match.slice(1).map((digits?: string) => Number(digits ?? 0)));
  }
  return undefined;
}
