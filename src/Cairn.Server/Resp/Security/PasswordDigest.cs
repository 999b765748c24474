using System.Security.Cryptography;

namespace Cairn.Server.Resp.Security;

// What a password is known by while it waits to be checked: the key that the slow hash makes of it, and a fast hash with a key that never
// leaves the process. HMAC takes the hash of a key that is longer than its block (RFC 2104, section 2), so a digest of a long password
// matches as the password itself does, and takes no more memory than a short one.
internal readonly struct PasswordDigest
{
    private const int BlockBytes = 64;

    private static readonly byte[] s_processKey = RandomNumberGenerator.GetBytes(SHA256.HashSizeInBytes);

    private PasswordDigest(byte[] key, byte[] quick)
    {
        Key = key;
        Quick = quick;
    }

    /// <summary>What the slow hash is computed of.</summary>
    public byte[] Key { get; }

    /// <summary>The fast hash.</summary>
    public byte[] Quick { get; }

    public static PasswordDigest Of(ReadOnlySpan<byte> password) =>
        new(password.Length > BlockBytes ? SHA256.HashData(password) : password.ToArray(), HMACSHA256.HashData(s_processKey, password));

    /// <summary>The fast hash of a password.</summary>
    public static void QuickHash(ReadOnlySpan<byte> password, Span<byte> quick) => HMACSHA256.HashData(s_processKey, password, quick);

    /// <summary>Whether it is of the same password.</summary>
    public bool IsSame(in PasswordDigest other) => CryptographicOperations.FixedTimeEquals(Quick, other.Quick);
}
