using System.Numerics;
using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Encryption;

// A key of AES-256-GCM (NIST SP 800-38D) that any number of threads use at once. The cipher is the framework's.
//
// An AesGcm serves one thread at a time, and takes microseconds to make. So a key keeps the instances that are not in use, one for each
// processor: a thread takes the one of the processor it runs on, and puts it back. A thread that finds none, because another one was
// interrupted with it, makes one more. Instances of a thread's own would outlive threads that end.
//
//   G1  A thread has an instance to itself between taking it and putting it back.
//   G2  After Dispose has returned, no instance is kept, and the key is zero. An instance that was in use is disposed of by its user.
internal sealed class AesGcmKey : IDisposable
{
    public const int KeyBytes = 32;
    public const int NonceBytes = 12;
    public const int TagBytes = 16;

    // Eight references are a cache line: threads of two processors do not write to the same one.
    private const int PlaceStep = 8;
    private static readonly int PlaceMask = (int)BitOperations.RoundUpToPowerOf2((uint)Environment.ProcessorCount) - 1;

    private readonly byte[] _key;
    private readonly AesGcm?[] _idle = new AesGcm?[(PlaceMask + 1) * PlaceStep];
    private readonly Lock _gate = new();
    private volatile bool _isDisposed;

    /// <summary>Prepares a key.</summary>
    /// <param name="key">32 bytes, copied.</param>
    public AesGcmKey(ReadOnlySpan<byte> key)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(key.Length, KeyBytes, nameof(key));
        _key = key.ToArray();
    }

    // A key that was forgotten without being disposed of, because another one took its place (StoreCipher).
    ~AesGcmKey() => CryptographicOperations.ZeroMemory(_key);

    /// <summary>Encrypts a message in place.</summary>
    /// <param name="nonce">12 bytes, never the same twice with one key.</param>
    /// <param name="associated">What the tag covers besides the message.</param>
    /// <param name="message">What is encrypted.</param>
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
    /// <param name="nonce">The nonce it was encrypted with.</param>
    /// <param name="associated">The associated data it was encrypted with.</param>
    /// <param name="message">What is decrypted; undefined if the result is false.</param>
    /// <param name="tag">The tag.</param>
    /// <returns>False if one of the four is not as <see cref="Encrypt"/> left it.</returns>
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

    /// <summary>Zeroes the key, and disposes of the instances (G2). Later operations throw.</summary>
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

    // Under the lock, because Dispose zeroes the key: an instance made of half a key would find every entry forged.
    private AesGcm Create()
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                CloseAtExit.HoldBack(); // Dispose has left the lock.
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

        // The exchange above is a full fence, and so is the one in DisposeOfIdle: either Dispose sees the instance, or this
        // thread sees that the key was disposed of. Otherwise an instance could stay (G2).
        if (_isDisposed)
        {
            DisposeOfIdle(place);
        }
    }

    private void DisposeOfIdle(int place) => Interlocked.Exchange(ref _idle[place], null)?.Dispose();
}
