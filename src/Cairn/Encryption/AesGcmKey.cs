using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using System.Security.Cryptography;
using AesInstructions = System.Runtime.Intrinsics.X86.Aes;

namespace Cairn.Encryption;

// A key of AES-256-GCM (NIST SP 800-38D), ready for use by any number of threads at once.
//
// The framework's AesGcm is an object of OpenSSL's, for one thread, and takes eight tenths of a microsecond a call, however little it
// encrypts: several times what a read of the store does. So short messages are encrypted here, with the processor's own instructions for AES and
// carry-less multiplication, where it has them; long ones, which OpenSSL encrypts with wider registers, and those of other processors
// are left to the framework. Tests hold the one to the other, byte for byte.
//
//   counter mode   block i of the keystream is AES(nonce | i + 2); AES(nonce | 1) hides the sum below
//   tag            a polynomial in H = AES(0) over GF(2^128), whose coefficients are the blocks of the associated data, of the
//                  ciphertext, and their lengths
//
// Field elements are kept byte-reversed, as POLYVAL has them (RFC 8452, appendix A): multiplying H by x once then saves shifting every product.
// Eight products are summed before one reduction, with the powers of H computed in advance.
//
// None of it branches on, or looks anything up by, a secret.
internal sealed class AesGcmKey : IDisposable
{
    public const int KeyBytes = 32;
    public const int NonceBytes = 12;
    public const int TagBytes = 16;

    /// <summary>Longer messages go to the framework: there its speed outweighs what a call costs.</summary>
    public const int LongestShort = 8 * 1024;

    private const int Rounds = 14;
    private const int BlockBytes = 16;
    private const int Lanes = 8;

    private readonly byte[] _key;
    private readonly Vector128<byte>[] _roundKeys = [];
    private readonly Vector128<ulong>[] _powers = [];
    private AesGcm? _idle;

    /// <summary>Prepares a key.</summary>
    /// <param name="key">32 bytes.</param>
    /// <param name="usesInstructions">False to leave everything to the framework, as where the processor lacks the instructions.</param>
    public AesGcmKey(ReadOnlySpan<byte> key, bool usesInstructions = true)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(key.Length, KeyBytes, nameof(key));
        _key = key.ToArray();
        if (!usesInstructions || !HasInstructions)
        {
            return;
        }

        _roundKeys = new Vector128<byte>[Rounds + 1];
        Expand(key, _roundKeys);
        _powers = new Vector128<ulong>[Lanes];
        _powers[0] = TimesX(Reverse(EncryptBlock(Vector128<byte>.Zero)).AsUInt64());
        for (int i = 1; i < Lanes; i++)
        {
            _powers[i] = Multiply(_powers[i - 1], _powers[0]);
        }
    }

    /// <summary>Whether the processor has the instructions.</summary>
    public static bool HasInstructions => AesInstructions.IsSupported && Pclmulqdq.IsSupported && Ssse3.IsSupported && Sse41.IsSupported;

    /// <summary>Encrypts a message in place.</summary>
    /// <param name="nonce">12 bytes, never the same twice with one key.</param>
    /// <param name="associated">What the tag covers besides the message.</param>
    /// <param name="message">What is encrypted.</param>
    /// <param name="tag">16 bytes that prove that message and associated data are what they were.</param>
    public void Encrypt(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, Span<byte> message, Span<byte> tag)
    {
        if (_powers.Length == 0 || message.Length > LongestShort)
        {
            AesGcm framework = Rent();
            framework.Encrypt(nonce, message, message, tag, associated);
            Return(framework);
            return;
        }

        Vector128<uint> counters = CountersOf(nonce);
        Vector128<byte> mask = Apply(counters, message);
        (Sum(associated, message) ^ mask).CopyTo(tag);
    }

    /// <summary>Decrypts a message in place, if its tag is right.</summary>
    /// <param name="nonce">The nonce it was encrypted with.</param>
    /// <param name="associated">The associated data it was encrypted with.</param>
    /// <param name="message">What is decrypted; undefined if the result is false.</param>
    /// <param name="tag">The tag.</param>
    /// <returns>False if message, associated data or tag are not what <see cref="Encrypt"/> made or was given.</returns>
    public bool TryDecrypt(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, Span<byte> message, ReadOnlySpan<byte> tag)
    {
        if (_powers.Length == 0 || message.Length > LongestShort)
        {
            return TryDecryptByFramework(nonce, associated, message, tag);
        }

        Vector128<uint> counters = CountersOf(nonce);
        Vector128<byte> expected = Sum(associated, message) ^ EncryptBlock(WithCounter(counters, 1));

        // All bits at once: how long it takes does not tell how many are right.
        if (expected != Vector128.Create(tag))
        {
            return false;
        }

        Apply(counters, message);
        return true;
    }

    /// <summary>Forgets the key.</summary>
    public void Dispose()
    {
        CryptographicOperations.ZeroMemory(_key);
        _roundKeys.AsSpan().Clear();
        _powers.AsSpan().Clear();
        Interlocked.Exchange(ref _idle, null)?.Dispose();
    }

    private bool TryDecryptByFramework(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, Span<byte> message, ReadOnlySpan<byte> tag)
    {
        AesGcm framework = Rent();
        try
        {
            framework.Decrypt(nonce, message, tag, message, associated);
            return true;
        }
        catch (AuthenticationTagMismatchException)
        {
            return false;
        }
        finally
        {
            Return(framework);
        }
    }

    // One object waits for the next who needs one; if more are in use at once, the others are made and given up.
    private AesGcm Rent() => Interlocked.Exchange(ref _idle, null) ?? new AesGcm(_key, TagBytes);

    private void Return(AesGcm framework) => Interlocked.Exchange(ref _idle, framework)?.Dispose();

    private static Vector128<uint> CountersOf(ReadOnlySpan<byte> nonce) => Vector128.Create(
        MemoryMarshal.Read<uint>(nonce), MemoryMarshal.Read<uint>(nonce[4..]), MemoryMarshal.Read<uint>(nonce[8..NonceBytes]), 0u);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> WithCounter(Vector128<uint> counters, uint number) =>
        Sse41.Insert(counters, BinaryPrimitives.ReverseEndianness(number), 3).AsByte();

    // Adds the keystream to a message. Returns its first block, which is none of the message's but hides the sum.
    private Vector128<byte> Apply(Vector128<uint> counters, Span<byte> message)
    {
        Span<byte> stream = stackalloc byte[Lanes * BlockBytes];
        Encrypt8(counters, 1, stream);
        var first = Vector128.Create<byte>(stream[..BlockBytes]);
        uint next = 1 + Lanes;
        stream = stream[BlockBytes..];
        Add(message, stream);
        message = message[Math.Min(message.Length, stream.Length)..];
        if (message.Length != 0)
        {
            Span<byte> more = stackalloc byte[Lanes * BlockBytes];
            while (message.Length != 0)
            {
                Encrypt8(counters, next, more);
                next += Lanes;
                Add(message, more);
                message = message[Math.Min(message.Length, more.Length)..];
            }
        }

        return first;
    }

    // As much of the stream as there is message for.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Add(Span<byte> message, ReadOnlySpan<byte> stream)
    {
        ref byte target = ref MemoryMarshal.GetReference(message);
        ref byte source = ref MemoryMarshal.GetReference(stream);
        nint length = Math.Min(message.Length, stream.Length);
        nint at = 0;
        for (; at <= length - BlockBytes; at += BlockBytes)
        {
            (Vector128.LoadUnsafe(ref Unsafe.Add(ref target, at)) ^ Vector128.LoadUnsafe(ref Unsafe.Add(ref source, at)))
                .StoreUnsafe(ref Unsafe.Add(ref target, at));
        }

        for (; at < length; at++)
        {
            Unsafe.Add(ref target, at) ^= Unsafe.Add(ref source, at);
        }
    }

    // Eight blocks at once keep the processor's AES units busy: each instruction takes four cycles, and two begin in each.
    private void Encrypt8(Vector128<uint> counters, uint number, Span<byte> stream)
    {
        ref Vector128<byte> keys = ref MemoryMarshal.GetArrayDataReference(_roundKeys);
        Vector128<byte> key = keys;
        Vector128<byte> b0 = WithCounter(counters, number) ^ key;
        Vector128<byte> b1 = WithCounter(counters, number + 1) ^ key;
        Vector128<byte> b2 = WithCounter(counters, number + 2) ^ key;
        Vector128<byte> b3 = WithCounter(counters, number + 3) ^ key;
        Vector128<byte> b4 = WithCounter(counters, number + 4) ^ key;
        Vector128<byte> b5 = WithCounter(counters, number + 5) ^ key;
        Vector128<byte> b6 = WithCounter(counters, number + 6) ^ key;
        Vector128<byte> b7 = WithCounter(counters, number + 7) ^ key;
        for (int round = 1; round < Rounds; round++)
        {
            key = Unsafe.Add(ref keys, round);
            b0 = AesInstructions.Encrypt(b0, key);
            b1 = AesInstructions.Encrypt(b1, key);
            b2 = AesInstructions.Encrypt(b2, key);
            b3 = AesInstructions.Encrypt(b3, key);
            b4 = AesInstructions.Encrypt(b4, key);
            b5 = AesInstructions.Encrypt(b5, key);
            b6 = AesInstructions.Encrypt(b6, key);
            b7 = AesInstructions.Encrypt(b7, key);
        }

        key = Unsafe.Add(ref keys, Rounds);
        ref byte target = ref MemoryMarshal.GetReference(stream[..(Lanes * BlockBytes)]);
        AesInstructions.EncryptLast(b0, key).StoreUnsafe(ref target);
        AesInstructions.EncryptLast(b1, key).StoreUnsafe(ref target, 1 * BlockBytes);
        AesInstructions.EncryptLast(b2, key).StoreUnsafe(ref target, 2 * BlockBytes);
        AesInstructions.EncryptLast(b3, key).StoreUnsafe(ref target, 3 * BlockBytes);
        AesInstructions.EncryptLast(b4, key).StoreUnsafe(ref target, 4 * BlockBytes);
        AesInstructions.EncryptLast(b5, key).StoreUnsafe(ref target, 5 * BlockBytes);
        AesInstructions.EncryptLast(b6, key).StoreUnsafe(ref target, 6 * BlockBytes);
        AesInstructions.EncryptLast(b7, key).StoreUnsafe(ref target, 7 * BlockBytes);
    }

    private Vector128<byte> EncryptBlock(Vector128<byte> block)
    {
        ref Vector128<byte> keys = ref MemoryMarshal.GetArrayDataReference(_roundKeys);
        block ^= keys;
        for (int round = 1; round < Rounds; round++)
        {
            block = AesInstructions.Encrypt(block, Unsafe.Add(ref keys, round));
        }

        return AesInstructions.EncryptLast(block, Unsafe.Add(ref keys, Rounds));
    }

    // The polynomial's value. The groups of eight blocks end with the last block, so that the first group is the short one.
    private Vector128<byte> Sum(ReadOnlySpan<byte> associated, ReadOnlySpan<byte> message)
    {
        ref Vector128<ulong> powers = ref MemoryMarshal.GetArrayDataReference(_powers);
        int left = (Blocks(associated.Length) + Blocks(message.Length)) % Lanes; // One less than there are, with the lengths.
        Vector128<ulong> carry = default;
        Vector128<ulong> low = default;
        Vector128<ulong> middle = default;
        Vector128<ulong> high = default;
        for (int part = 0; part < 2; part++)
        {
            ReadOnlySpan<byte> bytes = part == 0 ? associated : message;
            ref byte at = ref MemoryMarshal.GetReference(bytes);
            int length = bytes.Length;
            for (; length > 0; length -= BlockBytes, at = ref Unsafe.Add(ref at, BlockBytes))
            {
                Vector128<byte> block = length >= BlockBytes ? Vector128.LoadUnsafe(ref at) : LoadPart(ref at, length);
                AddProduct(Reverse(block).AsUInt64() ^ carry, Unsafe.Add(ref powers, left), ref low, ref middle, ref high);
                carry = default;
                if (--left < 0)
                {
                    carry = Reduce(low, middle, high);
                    low = middle = high = default;
                    left = Lanes - 1;
                }
            }
        }

        AddProduct(
            Vector128.Create((ulong)message.Length * 8, (ulong)associated.Length * 8) ^ carry, powers, ref low, ref middle, ref high);
        return Reverse(Reduce(low, middle, high).AsByte());
    }

    private static int Blocks(int length) => (int)(((uint)length + BlockBytes - 1) / BlockBytes);

    // The last bytes, with zeros behind them; no byte beyond them is read.
    private static Vector128<byte> LoadPart(ref byte at, int length)
    {
        Span<byte> block = stackalloc byte[BlockBytes];
        block.Clear();
        MemoryMarshal.CreateReadOnlySpan(ref at, length).CopyTo(block);
        return Vector128.Create<byte>(block);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<byte> Reverse(Vector128<byte> block) =>
        Ssse3.Shuffle(block, Vector128.Create((byte)15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void AddProduct(
        Vector128<ulong> left, Vector128<ulong> right, ref Vector128<ulong> low, ref Vector128<ulong> middle, ref Vector128<ulong> high)
    {
        low ^= Pclmulqdq.CarrylessMultiply(left, right, 0x00);
        middle ^= Pclmulqdq.CarrylessMultiply(left, right, 0x01) ^ Pclmulqdq.CarrylessMultiply(left, right, 0x10);
        high ^= Pclmulqdq.CarrylessMultiply(left, right, 0x11);
    }

    // Montgomery's reduction by x^128 + x^127 + x^126 + x^121 + 1: twice, a multiple of the polynomial that makes the low 64 bits zero.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Reduce(Vector128<ulong> low, Vector128<ulong> middle, Vector128<ulong> high)
    {
        Vector128<ulong> polynomial = Vector128.CreateScalar(0xC200_0000_0000_0000UL);
        low ^= Sse2.ShiftLeftLogical128BitLane(middle, 8);
        high ^= Sse2.ShiftRightLogical128BitLane(middle, 8);
        low = Swap(low) ^ Pclmulqdq.CarrylessMultiply(low, polynomial, 0x00);
        low = Swap(low) ^ Pclmulqdq.CarrylessMultiply(low, polynomial, 0x00);
        return low ^ high;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector128<ulong> Swap(Vector128<ulong> value) => Sse2.Shuffle(value.AsUInt32(), 0b01_00_11_10).AsUInt64();

    private static Vector128<ulong> Multiply(Vector128<ulong> left, Vector128<ulong> right)
    {
        Vector128<ulong> low = default;
        Vector128<ulong> middle = default;
        Vector128<ulong> high = default;
        AddProduct(left, right, ref low, ref middle, ref high);
        return Reduce(low, middle, high);
    }

    private static Vector128<ulong> TimesX(Vector128<ulong> value)
    {
        ulong low = value.GetElement(0);
        ulong high = value.GetElement(1);
        ulong carry = 0 - (high >> 63);
        return Vector128.Create((low << 1) ^ (carry & 1), ((high << 1) | (low >> 63)) ^ (carry & 0xC200_0000_0000_0000));
    }

    private static void Expand(ReadOnlySpan<byte> key, Vector128<byte>[] keys)
    {
        keys[0] = Vector128.Create(key);
        keys[1] = Vector128.Create(key[BlockBytes..]);
        keys[2] = Even(keys[0], AesInstructions.KeygenAssist(keys[1], 0x01));
        keys[3] = Odd(keys[1], AesInstructions.KeygenAssist(keys[2], 0));
        keys[4] = Even(keys[2], AesInstructions.KeygenAssist(keys[3], 0x02));
        keys[5] = Odd(keys[3], AesInstructions.KeygenAssist(keys[4], 0));
        keys[6] = Even(keys[4], AesInstructions.KeygenAssist(keys[5], 0x04));
        keys[7] = Odd(keys[5], AesInstructions.KeygenAssist(keys[6], 0));
        keys[8] = Even(keys[6], AesInstructions.KeygenAssist(keys[7], 0x08));
        keys[9] = Odd(keys[7], AesInstructions.KeygenAssist(keys[8], 0));
        keys[10] = Even(keys[8], AesInstructions.KeygenAssist(keys[9], 0x10));
        keys[11] = Odd(keys[9], AesInstructions.KeygenAssist(keys[10], 0));
        keys[12] = Even(keys[10], AesInstructions.KeygenAssist(keys[11], 0x20));
        keys[13] = Odd(keys[11], AesInstructions.KeygenAssist(keys[12], 0));
        keys[14] = Even(keys[12], AesInstructions.KeygenAssist(keys[13], 0x40));
    }

    private static Vector128<byte> Even(Vector128<byte> previous, Vector128<byte> assist) =>
        Spread(previous) ^ Sse2.Shuffle(assist.AsUInt32(), 0xFF).AsByte();

    private static Vector128<byte> Odd(Vector128<byte> previous, Vector128<byte> assist) =>
        Spread(previous) ^ Sse2.Shuffle(assist.AsUInt32(), 0xAA).AsByte();

    // Each of the four words, and all those before it.
    private static Vector128<byte> Spread(Vector128<byte> words)
    {
        words ^= Sse2.ShiftLeftLogical128BitLane(words, 4);
        return words ^ Sse2.ShiftLeftLogical128BitLane(words, 8);
    }
}
