// A client of the TypeScript SDK's second generation. Usage: node v2.mjs URL legacy|auto [TOKEN]
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { story } from "./story.mjs";

const [url, mode, token] = process.argv.slice(2);
const requestInit = token ? { headers: { Authorization: `Bearer ${token}` } } : undefined;
const client = new Client({ name: "typescript-v2", version: "1" }, { versionNegotiation: { mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
await story(client, client.getNegotiatedProtocolVersion());
