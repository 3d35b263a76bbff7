// What a client does once it is connected; a line of JSON for each step.
function say(step, facts) {
  process.stdout.write(JSON.stringify({ step, ...facts }) + "\n");
}

export async function story(client, version) {
  say("connected", { version, instructions: client.getInstructions(), capabilities: client.getServerCapabilities() });
  say("tools", { names: (await client.listTools()).tools.map((tool) => tool.name) });
  const call = async (verb, args) => {
    const result = await client.callTool({ name: `logmem_${verb}`, arguments: args });
    say(verb, { refused: result.isError === true, text: result.content[0].text, structure: result.structuredContent });
    return result.structuredContent;
  };
  await call("start", {});
  await call("note", { where: "job:release", kind: "progress", summary: "Built it" });
  const ask = await call("ask", { where: "job:release", summary: "Publish it?", payload: { version: "1.4.0" } });
  await call("follow", { what: ask.trail, wait: 0 });
  await call("redeem", { trail: ask.trail });
  await call("brief", {});
  const { resources } = await client.listResources();
  say("resources", { uris: resources.map((each) => each.uri) });
  const { contents } = await client.readResource({ uri: resources[0].uri });
  say("resource", { text: contents[0].text });
  const { prompts } = await client.listPrompts();
  say("prompts", { names: prompts.map((each) => each.name) });
  const { messages } = await client.getPrompt({ name: "outstanding" });
  say("prompt", { text: messages[0].content.text });
  await client.close();
}
