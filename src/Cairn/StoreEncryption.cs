using System.Security.Cryptography;
using Cairn.Encryption;

namespace Cairn;

/// <summary>The secret that protects an encrypted store: a key of 256 bits, or a password.</summary>
/// <remarks>
/// <para>
/// The secret does not encrypt the entries. Each store has a random key of its own for that. The file contains this key, encrypted with the secret. So a
/// password can be changed without encrypting the entries again (<see cref="StoreMaintenance.Rekey"/>), and one secret can protect many stores.
/// </para>
/// <para>
/// The object is safe to use from any thread, and for any number of stores. Use one object for all openings with the same password: the derivation of a key
/// from a password takes a large part of a second. The object derives it once per store.
/// </para>
/// </remarks>
public sealed class StoreEncryption
{
    /// <summary>Length of a key: 32 bytes.</summary>
    public const int KeyBytes = AesGcmKey.KeyBytes;

    /// <summary>The number of iterations of a password's hash when a store is created: 600,000.</summary>
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

    /// <summary>Checks that the framework supports the cipher.</summary>
    /// <param name="isSupported">Whether the framework supports it.</param>
    /// <exception cref="PlatformNotSupportedException">The framework does not support it.</exception>
    internal static void RequireCipher(bool isSupported)
    {
        if (!isSupported)
        {
            throw new PlatformNotSupportedException(
                "Stores cannot be encrypted here: .NET has no AES-GCM on this system (System.Security.Cryptography.AesGcm.IsSupported is false). " +
                "On Linux, install OpenSSL.");
        }
    }

    /// <summary>Creates the encryption with a key.</summary>
    /// <param name="key">32 random bytes, copied before the call returns. The store cannot be read without them.</param>
    /// <returns>The value for <see cref="StoreOptions.Encryption"/>.</returns>
    /// <exception cref="ArgumentException">The key does not have 32 bytes.</exception>
    /// <exception cref="PlatformNotSupportedException">.NET has no AES-GCM on this system (<see cref="AesGcm.IsSupported"/>).</exception>
    public static StoreEncryption FromKey(ReadOnlySpan<byte> key) =>
        key.Length == KeyBytes
            ? new(KeyKind.Key, key.ToArray(), iterations: 0)
            : throw new ArgumentException($"A key has {KeyBytes} bytes; this one has {key.Length:N0}.", nameof(key));

    /// <summary>Creates the encryption with a password. PBKDF2 with SHA-256 derives a key from it.</summary>
    /// <param name="password">
    /// Any text that is not empty, used unchanged, in UTF-8. Choose a strong password: an attacker with a copy of the file can try some thousands of
    /// passwords per second with suitable hardware.
    /// </param>
    /// <returns>The value for <see cref="StoreOptions.Encryption"/>.</returns>
    /// <exception cref="ArgumentException">The password is empty, or contains half of a surrogate pair.</exception>
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

    /// <summary>Derives the key that encrypts a store's own key.</summary>
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
