// The quick start of @azure/cosmos, written as a newcomer would: only the endpoint and the key are set.
//
//     node quickstart.mjs ENDPOINT KEY

import { CosmosClient } from "@azure/cosmos";

const [endpoint, key] = process.argv.slice(2);
const client = new CosmosClient({ endpoint, key });

const { database } = await client.databases.createIfNotExists({ id: `cosmicworks-${Date.now()}-${process.pid}` });
const { container } = await database.containers.createIfNotExists({ id: "products", partitionKey: "/category" });

const surfboard = {
  id: "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb",
  category: "gear-surf-surfboards",
  name: "Yamba Surfboard",
  quantity: 12,
  price: 850.0,
  clearance: false,
};
const { resource: created } = await container.items.upsert(surfboard);
console.log("upserted", created.id);

const { resource: read } = await container.item(surfboard.id, "gear-surf-surfboards").read();
console.log("read", read.name, read.price);

const { resources } = await container.items
  .query({
    query: "SELECT * FROM products p WHERE p.category = @category",
    parameters: [{ name: "@category", value: "gear-surf-surfboards" }],
  })
  .fetchAll();
console.log("found", resources.map((item) => item.name).join());

await container.item(surfboard.id, surfboard.category).replace({ ...read, quantity: 9 });
await container.item(surfboard.id, surfboard.category).delete();
await database.delete();
console.log("done");
