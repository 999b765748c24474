using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Encryption;

// A key of AES-256-GCM (NIST SP 800-38D) that any number of threads can use at the same time. The cipher is the framework's.
//
// An AesGcm serves one thread at a time, and its creation takes microseconds. So a key keeps the idle instances, one for each processor. A thread takes the
// instance of its present processor, and puts it back. A thread that finds none creates another one, because an interrupted thread still has the first.
// Instances per thread would outlive threads that end.
//
//   G1  A thread has an instance for itself between taking it and putting it back.
//   G2  After Dispose has returned, no instance is kept, and the key is zero. If an instance was in use, its user disposes it.
internal sealed class AesGcmKey : IDisposable
{
    public const int KeyBytes = 32;
    public const int NonceBytes = 12;
    public const int TagBytes = 16;

    // Eight references are a cache line, so threads of two processors never write to the same line.
    private const int PlaceStep = 8;
    private static readonly int PlaceMask = (int)BitOperations.RoundUpToPowerOf2((uint)Environment.ProcessorCount) - 1;

    private readonly byte[] _key;
    private readonly AesGcm?[] _idle = new AesGcm?[(PlaceMask + 1) * PlaceStep];
    private readonly Lock _gate = new();
    private volatile bool _isDisposed;

    /// <summary>Creates a key.</summary>
    /// <param name="key">32 bytes, copied.</param>
    public AesGcmKey(ReadOnlySpan<byte> key)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(key.Length, KeyBytes, nameof(key));
        _key = key.ToArray();
    }

    // Zeroes a key that was not disposed, because another key has replaced it (StoreCipher).
    ~AesGcmKey() => CryptographicOperations.ZeroMemory(_key);

    /// <summary>Encrypts a message in place.</summary>
    /// <param name="nonce">12 bytes. The same nonce must never be used twice with one key.</param>
    /// <param name="associated">The bytes that the tag covers in addition to the message.</param>
    /// <param name="message">The message to encrypt.</param>
    /// <param name="tag">Receives 16 bytes that prove that message and associated data are unchanged.</param>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public void Encrypt(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, Span<byte> message, Span<byte> tag)
    {
        AesGcm instance = Take(out int place);
        try
        {
            instance.Encrypt(nonce, message, message, tag, associated);
        }
        finally
        {
            PutBack(instance, place);
        }
    }

    /// <summary>Decrypts a message in place, if its tag is right.</summary>
    /// <param name="nonce">The nonce with which the message was encrypted.</param>
    /// <param name="associated">The associated data with which the message was encrypted.</param>
    /// <param name="message">The message to decrypt. Its content is undefined if the result is false.</param>
    /// <param name="tag">The tag.</param>
    /// <returns>False if one of the four arguments differs from its value at <see cref="Encrypt"/>.</returns>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public bool TryDecrypt(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, Span<byte> message, ReadOnlySpan<byte> tag)
    {
        AesGcm instance = Take(out int place);
        try
        {
            instance.Decrypt(nonce, message, tag, message, associated);
            return true;
        }
        catch (AuthenticationTagMismatchException)
        {
            return false;
        }
        finally
        {
            PutBack(instance, place);
        }
    }

    /// <summary>Zeroes the key and disposes the instances (G2). Later operations throw.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            CryptographicOperations.ZeroMemory(_key);
        }

        for (int place = 0; place < _idle.Length; place += PlaceStep)
        {
            DisposeOfIdle(place);
        }

        GC.SuppressFinalize(this);
    }

    private AesGcm Take(out int place)
    {
        place = (Thread.GetCurrentProcessorId() & PlaceMask) * PlaceStep;
        return Interlocked.Exchange(ref _idle[place], null) ?? Create();
    }

    // The lock is necessary because Dispose zeroes the key. With an instance of a partly zeroed key, every entry would appear forged.
    private AesGcm Create()
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                CloseAtExit.HoldBack(); // Dispose has released the lock.
                throw new ObjectDisposedException(nameof(CairnStore));
            }

            return new AesGcm(_key, TagBytes);
        }
    }

    private void PutBack(AesGcm instance, int place)
    {
        if (Interlocked.CompareExchange(ref _idle[place], instance, null) is not null)
        {
            instance.Dispose();
        }

        // The exchange above is a full fence; pairs with the exchange in DisposeOfIdle. Either Dispose sees the instance, or this thread sees that the key
        // was disposed. Otherwise an instance could remain (G2).
        if (_isDisposed)
        {
            DisposeOfIdle(place);
        }
    }

    private void DisposeOfIdle(int place) => Interlocked.Exchange(ref _idle[place], null)?.Dispose();
}
