// A program that answers a prompt with itself, after as many milliseconds as its first argument: the simplest agent.
import { text } from 'node:stream/consumers';

const prompt = await text(process.stdin);
setTimeout(() => process.stdout.write(prompt), Number(process.argv[2]));
