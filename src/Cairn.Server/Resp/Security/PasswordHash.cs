using System.Buffers.Text;
using System.Security.Cryptography;

namespace Cairn.Server.Resp.Security;

// A stored password. After a password was found right, a fast hash with a key that never leaves the process recognises it. So a slow hash
// is computed for the first connection and for every wrong attempt, not for every connection. PasswordChecks computes it for connections.
internal sealed class PasswordHash
{
    private const int HashBytes = 32;
    private const int MostIterations = 1_000_000;
    private const int LongestSalt = 256;

    private readonly byte[] _salt;
    private readonly int _iterations;
    private readonly byte[] _hash;
    private volatile byte[]? _known;

    private PasswordHash(byte[] hash, byte[] salt, int iterations)
    {
        _hash = hash;
        _salt = salt;
        _iterations = iterations;
    }

    /// <summary>Gets the number of iterations of the slow hash; 0 for the fast one.</summary>
    public int Iterations => _iterations;

    /// <summary>Creates the hash of a password that is given in plain text.</summary>
    public static PasswordHash Of(string password) => new(SHA256.HashData(Encoding.UTF8.GetBytes(password)), [], 0);

    /// <summary>Creates a hash that no password matches. A check takes the usual time.</summary>
    public static PasswordHash OfNobody(int iterations) => new(RandomNumberGenerator.GetBytes(HashBytes), RandomNumberGenerator.GetBytes(16), iterations);

    /// <summary>Reads sha256:HEX, #HEX, or pbkdf2:ITERATIONS:SALT:HASH with salt and hash in base64. Returns null if the text is not
    /// valid.</summary>
    public static PasswordHash? TryParse(string text)
    {
        if (text.StartsWith('#') || text.StartsWith("sha256:", StringComparison.Ordinal))
        {
            string digits = text[(text.StartsWith('#') ? 1 : 7)..];
            return digits.Length == 2 * HashBytes && digits.All(char.IsAsciiHexDigit) ? new PasswordHash(Convert.FromHexString(digits), [], 0) : null;
        }

        return text.Split(':') is ["pbkdf2", var count, var salt, var hash]
            && int.TryParse(count, out int iterations) && iterations is >= 1 and <= MostIterations
            && TryDecode(salt) is { Length: >= 8 and <= LongestSalt } saltBytes && TryDecode(hash) is { Length: HashBytes } hashBytes
            ? new PasswordHash(hashBytes, saltBytes, iterations)
            : null;
    }

    /// <summary>Returns whether the password matches, as far as a fast hash can decide; null if the slow hash must decide.</summary>
    public bool? TryMatch(ReadOnlySpan<byte> password)
    {
        Span<byte> computed = stackalloc byte[HashBytes];
        if (_iterations == 0)
        {
            SHA256.HashData(password, computed);
            return CryptographicOperations.FixedTimeEquals(computed, _hash);
        }

        PasswordDigest.QuickHash(password, computed);
        return _known is { } known && CryptographicOperations.FixedTimeEquals(computed, known) ? true : null;
    }

    /// <summary>Returns whether the password matches. Computes the slow hash, so it must not run on a worker. The time does not depend on
    /// the password's similarity.</summary>
    public bool Matches(in PasswordDigest password)
    {
        Span<byte> computed = stackalloc byte[HashBytes];
        Rfc2898DeriveBytes.Pbkdf2(password.Key, _salt, computed, _iterations, HashAlgorithmName.SHA256);
        bool isRight = CryptographicOperations.FixedTimeEquals(computed, _hash);
        if (isRight)
        {
            _known = password.Quick;
        }

        return isRight;
    }

    private static byte[]? TryDecode(string text)
    {
        byte[] bytes = new byte[Base64.GetMaxDecodedFromUtf8Length(text.Length) + 3];
        return Convert.TryFromBase64String(text, bytes, out int count) ? bytes[..count] : null;
    }
}
