using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Cairn.Server.Resp.Commands;

/// <summary>A script of a library that the server executes natively.</summary>
/// <param name="Name">What the script does, as docs/protocols.md lists it.</param>
/// <param name="Keys">The fewest keys that it takes.</param>
/// <param name="Arguments">The fewest arguments that it takes.</param>
/// <param name="Handler">Does what the script does.</param>
/// <param name="Digests">The digests of its normal forms, in its libraries and their versions.</param>
internal sealed record KnownScript(string Name, int Keys, int Arguments, ScriptHandler Handler, params string[] Digests);

// The known scripts, and the digests of the texts that clients have sent. As in Redis, a script can be named by its digest once a client
// has sent its text. Thread-safe.
internal sealed class KnownScripts
{
    // A script can be sent with any white space, so the number of its texts has no limit of its own.
    private const int MostTexts = 1024;

    private static readonly FrozenDictionary<string, KnownScript> s_byDigest = All
        .SelectMany(script => script.Digests.Select(digest => KeyValuePair.Create(digest, script)))
        .ToFrozenDictionary();

    private readonly ConcurrentDictionary<TextDigest, KnownScript> _sent = new();

    public static KnownScript[] All =>
    [
        new("deletes a key with the caller's token", 1, 1, LockScripts.Make(HeldAction.Delete),
            "588c09aae54753afd325984e748a4e18801f6735",
            "79a6e6a9a81dbef46b733162453fe646959765e5",
            "59dc1b533fcb3c80b93562d41509ee0a420f5d5f",
            "be46ffc93d1648cee791d839b1305191a4f2fdde",
            "70a8075c3081c84ddb47d3cfd089115e03467c7e",
            "69d747147c510296000d8a262deae17502f407a3",
            "404ad41659386a046386cadffd0a1641f1d675b4",
            "42c4ca0303f0283dede97591f2f9a55ec79dbff9",
            "9c6bb508e9f655cf9095f945dffe63c684832d36",
            "dbb242470dd02a9714cc37fbce9965566b5f3776",
            "e876d447abab469c2137e575b4c0be28b37238f9",
            "5cc07fa53fa964aedc7fe280d976acaa9af642c0",
            "1179e693b29fda653472cdbc3d5eb3ba1316ffd4"),
        new("deletes a key with the caller's token; -1 if there is none", 1, 1, LockScripts.Make(HeldAction.Delete, missing: -1),
            "66c76d3a9f41d142e154780d0cc8d4712130ff80"),
        new("expires a key with the caller's token, in milliseconds", 1, 2, LockScripts.Make(HeldAction.ExpireMilliseconds),
            "54dbf8d5b825beba1c79c099bd30cabbb42c44b9",
            "f576cc230e75dc6a6be7e432bafe62cb3bccfb0c",
            "cdcc5ef3d860388c20a20b0b04abd787665aee1a",
            "f15e65fb5debc953e2447a90167a0caa18339336",
            "72af1aa0e3cd80fe41e2a2dbc70ccb7e084f5066",
            "950040d749fb07469543b638121a7368b72bf37e",
            "44f9927bdcb1e8eac2b677d9aff29ef04afdca7a"),
        new("expires a key with the caller's token, in seconds", 1, 2, LockScripts.Make(HeldAction.ExpireSeconds),
            "6a0cc964ec938ab68f709cb8b32ae530c4b83d66",
            "e9c69e456ddb865717ed48fafc27982dab8b7f4c",
            "ff79bcdea8b66167e8348a8167b45f508aa9621b",
            "4503b3ff66fafdde913922214caaa32e5176bf91",
            "c657c54ffc3dc81f83d6ae479bc2fc030b56b61e",
            "9478e8adbf40cecfbe858859994987a4614fa709"),
        new("adds to the time to live of a key with the caller's token, or replaces it", 1, 2, LockScripts.Make(HeldAction.Extend),
            "f74f76b5b5a8290bbcc17f740b44fdbe5a56ff72"),
        new("expires a key with the caller's token, or sets a missing key", 1, 2, LockScripts.Make(HeldAction.ExpireMilliseconds, mayAcquire: true),
            "55ddc3bdb813e3304ecb38a177fd5c3aa461260c"),
        new("the same; -1 if another caller holds the key", 1, 2, LockScripts.Make(HeldAction.ExpireMilliseconds, mayAcquire: true, other: -1),
            "549d3f4beb01a9b6e58edd149e7d0e8c4b46fdb7"),
        new("returns the time to live of a key with the caller's token, otherwise -3", 1, 1, LockScripts.Make(HeldAction.Remaining, missing: -3, other: -3),
            "11ad3779a332858afd8d7efd93f84421cb320d15"),
        new("sets several keys if none exists", 1, 2, LockScripts.AcquireAll,
            "f92e9d39dc77a5d4a8cd739dafe6b8f0f5389c49"),
        new("sets several keys again if the caller holds all", 1, 2, LockScripts.ExtendAll,
            "e0272c455b4ba8ad5cf08b0aa8cd4775bb704d26"),
        new("deletes those of several keys that the caller holds", 1, 1, LockScripts.ReleaseAll,
            "f61b2a53697bbfa6fc1bbafc1ddd82ceacf53870"),
        new("sets an entry of Microsoft's IDistributedCache", 1, 4, CacheScripts.SetEntry,
            "10200f8f02f93434ccad8f1c4eec493831a88e6c",
            "893171a25337ebfb08671e83e00725299a6e29e3"),
        new("sets a key for some seconds if it does not exist", 1, 2, CacheScripts.Add(isMilliseconds: false),
            "1f48bc99f599ec436f59554fac670407787a8875"),
        new("the same, for some milliseconds", 1, 2, CacheScripts.Add(isMilliseconds: true),
            "7e6984f8bc918f6b83b4eacfc3688f8e073a538a"),
        new("adds to a number if the key exists", 1, 1, CacheScripts.Increment(createsKey: false),
            "3e98156055036a45a2bb39d6a49728f0f36050e1"),
        new("adds to a number", 1, 1, CacheScripts.Increment(createsKey: true),
            "8c8862e0a6ee53fb72c78fdf3f7a8f87d0f56836"),
    ];

    /// <summary>Returns the script with a text, and remembers the text. False if the server does not know the script.</summary>
    public bool TryLearn(ReadOnlySpan<byte> text, [NotNullWhen(true)] out KnownScript? script)
    {
        var digest = TextDigest.Of(text);
        if (_sent.TryGetValue(digest, out script))
        {
            return true;
        }

        if (!s_byDigest.TryGetValue(ScriptText.NormalDigest(text), out script))
        {
            return false;
        }

        if (_sent.Count >= MostTexts)
        {
            _sent.Clear(); // Clients answer the error for an unknown digest by sending the text.
        }

        _sent[digest] = script;
        return true;
    }

    /// <summary>Returns the script whose text has this digest, in hexadecimal. False if no client has sent such a text.</summary>
    public bool TryFind(ReadOnlySpan<byte> digest, [NotNullWhen(true)] out KnownScript? script)
    {
        script = null;
        return TextDigest.TryParse(digest, out TextDigest parsed) && _sent.TryGetValue(parsed, out script);
    }

    /// <summary>Forgets the texts.</summary>
    public void Forget() => _sent.Clear();

    private readonly record struct TextDigest(UInt128 Start, uint End)
    {
        public static TextDigest Of(ReadOnlySpan<byte> text)
        {
            Span<byte> digest = stackalloc byte[ScriptText.DigestBytes];
            ScriptText.Digest(text, digest);
            return From(digest);
        }

        public static bool TryParse(ReadOnlySpan<byte> hexadecimal, out TextDigest digest)
        {
            Span<byte> bytes = stackalloc byte[ScriptText.DigestBytes];
            bool isValid = hexadecimal.Length == 2 * ScriptText.DigestBytes
                && Convert.FromHexString(hexadecimal, bytes, out _, out _) == System.Buffers.OperationStatus.Done;
            digest = isValid ? From(bytes) : default;
            return isValid;
        }

        private static TextDigest From(ReadOnlySpan<byte> bytes) =>
            new(MemoryMarshal.Read<UInt128>(bytes), MemoryMarshal.Read<uint>(bytes[16..]));
    }
}
