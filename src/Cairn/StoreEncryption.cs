using System.Security.Cryptography;
using System.Text;
using Cairn.Encryption;
using Cairn.Storage;

namespace Cairn;

/// <summary>What a store is encrypted with: a key of 256 bits, or a password.</summary>
/// <remarks>
/// <para>
/// Neither encrypts the entries: each store draws a key of its own for that, which is kept in its file, encrypted with this. So a password
/// can be changed without encrypting everything anew (<see cref="CairnStore.Rekey"/>), and one key may be used for many stores.
/// </para>
/// <para>
/// Safe to use from any thread, and for any number of stores. Use one object for all openings with one password: deriving a key from a
/// password takes a good part of a second, and is done once for an object and a store.
/// </para>
/// </remarks>
public sealed class StoreEncryption
{
    /// <summary>Length of a key: 32 bytes.</summary>
    public const int KeyBytes = AesGcmKey.KeyBytes;

    /// <summary>How often the hash of a password is repeated when a store is created: 600,000 times.</summary>
    public const int PasswordIterations = 600_000;

    private readonly byte[] _secret;
    private readonly Lock _gate = new();
    private byte[]? _derived;
    private byte[]? _derivedSalt;
    private int _derivedIterations;

    private StoreEncryption(KeyKind kind, byte[] secret, int iterations)
    {
        RequireCipher(AesGcm.IsSupported);
        Kind = kind;
        _secret = secret;
        Iterations = iterations;
    }

    internal KeyKind Kind { get; }

    internal int Iterations { get; }

    /// <summary>Checks that the framework has the cipher.</summary>
    /// <param name="isSupported">Whether it has.</param>
    /// <exception cref="PlatformNotSupportedException">It has not.</exception>
    internal static void RequireCipher(bool isSupported)
    {
        if (!isSupported)
        {
            throw new PlatformNotSupportedException(
                "Stores cannot be encrypted here: .NET has no AES-GCM on this system (System.Security.Cryptography.AesGcm.IsSupported is false). " +
                "On Linux, install OpenSSL.");
        }
    }

    /// <summary>Encryption with a key.</summary>
    /// <param name="key">32 random bytes, copied before the call returns. Without them the store cannot be read.</param>
    /// <returns>What <see cref="StoreOptions.Encryption"/> takes.</returns>
    /// <exception cref="ArgumentException">The key does not have 32 bytes.</exception>
    /// <exception cref="PlatformNotSupportedException">.NET has no AES-GCM on this system (<see cref="AesGcm.IsSupported"/>).</exception>
    public static StoreEncryption FromKey(ReadOnlySpan<byte> key) =>
        key.Length == KeyBytes
            ? new(KeyKind.Key, key.ToArray(), iterations: 0)
            : throw new ArgumentException($"A key has {KeyBytes} bytes; this one has {key.Length:N0}.", nameof(key));

    /// <summary>Encryption with a password, from which a key is derived by PBKDF2 with SHA-256.</summary>
    /// <param name="password">
    /// Any text that is not empty, taken as it is, in UTF-8. Who has a copy of the file can try passwords, some thousands a second with
    /// the right hardware: it must be one that withstands that.
    /// </param>
    /// <returns>What <see cref="StoreOptions.Encryption"/> takes.</returns>
    /// <exception cref="ArgumentException">The password is empty, or has half of a surrogate pair.</exception>
    /// <exception cref="PlatformNotSupportedException">.NET has no AES-GCM on this system (<see cref="AesGcm.IsSupported"/>).</exception>
    public static StoreEncryption FromPassword(string password) => FromPassword(password, PasswordIterations);

    internal static StoreEncryption FromPassword(string password, int iterations)
    {
        ArgumentException.ThrowIfNullOrEmpty(password);
        try
        {
            return new(KeyKind.Password, new UTF8Encoding(false, throwOnInvalidBytes: true).GetBytes(password), iterations);
        }
        catch (EncoderFallbackException failure)
        {
            throw new ArgumentException("A password must be valid text, without half of a surrogate pair.", nameof(password), failure);
        }
    }

    /// <summary>The key that a store's own key is encrypted with.</summary>
    internal byte[] DeriveWrappingKey(ReadOnlySpan<byte> salt, int iterations)
    {
        if (Kind == KeyKind.Key)
        {
            var key = new byte[KeyBytes];
            HKDF.DeriveKey(HashAlgorithmName.SHA256, _secret, key, salt, "cairn wrapping key"u8);
            return key;
        }

        lock (_gate)
        {
            if (_derived is null || _derivedIterations != iterations || !salt.SequenceEqual(_derivedSalt))
            {
                _derived = Rfc2898DeriveBytes.Pbkdf2(_secret, salt, iterations, HashAlgorithmName.SHA256, KeyBytes);
                _derivedSalt = salt.ToArray();
                _derivedIterations = iterations;
            }

            return [.. _derived];
        }
    }
}
