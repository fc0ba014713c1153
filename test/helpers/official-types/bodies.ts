import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

/** The types of the official SDKs for bodies of requests and answers. */
export type ChatRequest = OpenAI.ChatCompletionCreateParamsNonStreaming;
export type MessagesRequest = Anthropic.MessageCreateParamsNonStreaming;
export type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsNonStreaming;
export type ChatAnswer = OpenAI.ChatCompletion;
export type MessagesAnswer = Anthropic.Message;
/** An event of a stream. */
export type MessagesEvent = Anthropic.RawMessageStreamEvent;
export type ResponsesAnswer = OpenAI.Responses.Response;
