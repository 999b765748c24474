using System.Collections.Concurrent;

namespace Cairn.Server.Resp;

/// <summary>A script of a library that the server executes natively.</summary>
/// <param name="Name">What the script does, as docs/protocols.md lists it.</param>
/// <param name="Keys">The fewest keys that it takes.</param>
/// <param name="Arguments">The fewest arguments that it takes.</param>
/// <param name="Handler">Does what the script does.</param>
/// <param name="Digests">The digests of its normal forms, in its libraries and their versions.</param>
internal sealed record KnownScript(string Name, int Keys, int Arguments, ScriptHandler Handler, params string[] Digests);

// The known scripts, and the digests of the texts that clients have sent. As in Redis, a script can be named by its digest once a client
// has sent its text. Thread-safe.
internal sealed class KnownScripts(KnownScript[] known)
{
    // A script can be sent with any white space, so the number of its texts has no limit of its own.
    private const int MostTexts = 1024;

    // Created for the first script, because most servers get none.
    private readonly Lazy<Dictionary<string, KnownScript>> _byDigest = new(() => known
        .SelectMany(script => script.Digests.Select(digest => KeyValuePair.Create(digest, script)))
        .ToDictionary(StringComparer.Ordinal));

    private readonly ConcurrentDictionary<TextDigest, KnownScript> _sent = new();

    /// <summary>Returns the script with a text, and remembers the text. False if the server does not know the script.</summary>
    public bool TryLearn(ReadOnlySpan<byte> text, [NotNullWhen(true)] out KnownScript? script)
    {
        var digest = TextDigest.Of(text);
        if (_sent.TryGetValue(digest, out script))
        {
            return true;
        }

        if (!_byDigest.Value.TryGetValue(ScriptText.NormalDigest(text), out script))
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
