namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Implements the roles of child processes in tests of the hybrid cache.</summary>
internal static class HybridRoles
{
    /// <summary>
    /// PATH: opens a cache over that store file, performs each line of input and answers it with a line. The lines are: get KEY VALUE [TAG]; hold KEY
    /// VALUE [TAG] (answers when the factory runs) and release; set KEY VALUE [TAG]; remove KEY; tag TAG; tags TAG TAG ...; keys TAG; topic TOPIC; clear; look KEY.
    /// </summary>
#pragma warning disable VSTHRD002 // The process has no other work.
    public static void Node(string[] args) => RunAsync(args[0]).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    public static CairnHybridCache Open(string path) =>
        CairnHybridCache.Create(new CairnHybridCacheOptions().UseStoreFile(path, file =>
        {
            file.CapacityBytes = StoreDirectory.SmallCapacityBytes;
            file.FlushOnClose = false;
        }));

    private static async Task RunAsync(string path)
    {
        await using CairnHybridCache cache = Open(path);
        HeldFactory<string>? held = null;
        Task<string>? holding = null;
        string heldValue = "";
        Console.WriteLine("ready");
        while (await Console.In.ReadLineAsync() is { } line)
        {
            string[] words = line.Split('|');
            string[]? tags = words.Length > 3 ? words[3..] : null;
            switch (words[0])
            {
                case "get":
                    Console.WriteLine(await cache.GetOrCreateAsync(words[1], _ => new ValueTask<string>(words[2]), tags: tags));
                    break;
                case "hold":
                    HeldFactory<string> factory = held = new HeldFactory<string>();
                    heldValue = words[2];
                    holding = cache.GetOrCreateAsync(words[1], token => factory.RunAsync(token), tags: tags).AsTask();
                    await factory.StartedAsync();
                    Console.WriteLine("running");
                    break;
                case "release":
                    held!.Return(heldValue);
                    Console.WriteLine(await holding!);
                    break;
                case "set":
                    await cache.SetAsync(words[1], words[2], tags: tags);
                    Console.WriteLine("done");
                    break;
                case "remove":
                    await cache.RemoveAsync(words[1]);
                    Console.WriteLine("done");
                    break;
                case "tag":
                    await cache.RemoveByTagAsync(words[1]);
                    Console.WriteLine("done");
                    break;
                case "tags":
                    await cache.RemoveByTagAsync(words[1..], TagMatch.All);
                    Console.WriteLine("done");
                    break;
                case "keys":
                    var keys = new List<string>();
                    await foreach (string key in cache.KeysByTagAsync(words[1]))
                    {
                        keys.Add(key);
                    }

                    Console.WriteLine(string.Join(' ', keys.Order(StringComparer.Ordinal)));
                    break;
                case "topic":
                    await cache.RaiseTopicAsync(words[1]);
                    Console.WriteLine("done");
                    break;
                case "clear":
                    await cache.ClearAsync();
                    Console.WriteLine("done");
                    break;
                case "look":
                    Console.WriteLine((await cache.GetAsync<string>(words[1])).Value ?? "nothing");
                    break;
                default:
                    throw new InvalidOperationException($"No such order: {line}");
            }
        }
    }
}
