using System.Security.Cryptography;

namespace Cairn.Server.Resp.Security;

// Represents a password while it waits to be checked: the key for the slow hash, and a fast hash with a key that never leaves the
// process. HMAC replaces a key that is longer than its block by the key's hash (RFC 2104, section 2). So the digest of a long password
// matches as the password itself does, and uses no more memory than a short one.
internal readonly struct PasswordDigest
{
    private const int BlockBytes = 64;

    private static readonly byte[] s_processKey = RandomNumberGenerator.GetBytes(SHA256.HashSizeInBytes);

    private PasswordDigest(byte[] key, byte[] quick)
    {
        Key = key;
        Quick = quick;
    }

    /// <summary>Gets the input of the slow hash.</summary>
    public byte[] Key { get; }

    /// <summary>Gets the fast hash.</summary>
    public byte[] Quick { get; }

    public static PasswordDigest Of(ReadOnlySpan<byte> password) =>
        new(password.Length > BlockBytes ? SHA256.HashData(password) : password.ToArray(), HMACSHA256.HashData(s_processKey, password));

    /// <summary>Computes the fast hash of a password.</summary>
    public static void QuickHash(ReadOnlySpan<byte> password, Span<byte> quick) => HMACSHA256.HashData(s_processKey, password, quick);

    /// <summary>Returns whether both are digests of the same password.</summary>
    public bool IsSame(in PasswordDigest other) => CryptographicOperations.FixedTimeEquals(Quick, other.Quick);
}
