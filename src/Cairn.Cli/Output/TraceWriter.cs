using System.Security.Cryptography;

namespace Cairn.Cli.Output;

// Writes a trace: one line for each request, with a hash of the key. The hash is the beginning of an HMAC-SHA256 under a random secret that is not
// stored. So a trace does not reveal the keys, and two traces cannot be compared with each other.
internal sealed class TraceWriter(Stream target, long mostBytes)
{
    private const int HashBytes = 8;
    private const int LineBytes = (2 * HashBytes) + 1;

    private readonly byte[] _secret = RandomNumberGenerator.GetBytes(32);

    /// <summary>Gets the number of lines written.</summary>
    public long Requests { get; private set; }

    /// <summary>Gets whether there is no room for another line.</summary>
    public bool IsFull => (Requests + 1) * LineBytes > mostBytes;

    public void Add(string key)
    {
        Span<byte> hash = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(_secret, Encoding.UTF8.GetBytes(key), hash);
        target.Write(Encoding.ASCII.GetBytes(Convert.ToHexStringLower(hash[..HashBytes]) + "\n"));
        Requests++;
    }
}
