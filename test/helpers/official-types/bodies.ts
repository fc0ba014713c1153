import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

/** The types that the official SDKs give to bodies of requests and answers. */
export type ChatRequest = OpenAI.ChatCompletionCreateParamsNonStreaming;
export type MessagesRequest = Anthropic.MessageCreateParamsNonStreaming;
export type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsNonStreaming;
export type ChatAnswer = OpenAI.ChatCompletion;
export type MessagesAnswer = Anthropic.Message;
/** Of a stream. */
export type MessagesEvent = Anthropic.RawMessageStreamEvent;
export type ResponsesAnswer = OpenAI.Responses.Response;
