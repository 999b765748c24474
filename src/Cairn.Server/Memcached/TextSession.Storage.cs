using Cairn.Engine;
using Cairn.Keys;
using Cairn.Protocol.Memcached;
using Cairn.Server.Buffers;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The commands set, add, replace, append, prepend, cas, delete, incr, decr and touch.
internal sealed unsafe partial class TextSession
{
    private void Store(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        fixed (byte* key = request.Key.Of(input))
        {
            KeyRef keyRef = KeyOf(key, request.Key.Length);
            WriteStatus status = _entries.Store(keyRef, new StoreRequest
            {
                Command = request.Command,
                Value = request.Value.Of(input),
                Flags = request.ClientFlags,
                ExpirationSeconds = request.ExpirationSeconds,
                Version = _entries.VersionOf(keyRef, request.Version),
            });
            ReplyStored(request, status, output);
        }
    }

    private void ReplyStored(in MemcachedRequest request, WriteStatus status, OutputBuffer output)
    {
        switch (status)
        {
            case WriteStatus.Stored:
                Reply(request, output, "STORED\r\n"u8);
                break;

            case WriteStatus.VersionMismatch:
                Reply(request, output, "EXISTS\r\n"u8);
                break;

            case WriteStatus.NotFound when request.Command == MemcachedCommand.Cas:
                Reply(request, output, "NOT_FOUND\r\n"u8);
                break;

            case WriteStatus.NotFound or WriteStatus.Exists:
                Reply(request, output, "NOT_STORED\r\n"u8);
                break;

            case WriteStatus.TooLarge:
                Reply(request, output, ErrorText(MemcachedError.ObjectTooLarge));
                break;

            default:
                Reply(request, output, ErrorText(MemcachedError.OutOfMemoryStoring));
                break;
        }
    }

    // Refuses a value before all of it has arrived.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RefuseTooLarge(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        Span<byte> decoded = stackalloc byte[MemcachedReader.MaxKeyBytes];
        ReadOnlySpan<byte> name = DecodeKey(input, request, decoded);
        fixed (byte* key = name)
        {
            _entries.RefuseTooLarge(KeyOf(key, name.Length), removesOld: request.Command is MemcachedCommand.Set or MemcachedCommand.MetaSet);
        }

        Reply(request, output, ErrorText(MemcachedError.ObjectTooLarge));
    }

    private void Delete(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        fixed (byte* key = request.Key.Of(input))
        {
            WriteStatus status = _entries.Delete(KeyOf(key, request.Key.Length));
            Reply(request, output, status == WriteStatus.Stored ? "DELETED\r\n"u8 : "NOT_FOUND\r\n"u8);
        }
    }

    private void Touch(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        fixed (byte* key = request.Key.Of(input))
        {
            switch (_entries.Touch(KeyOf(key, request.Key.Length), request.ExpirationSeconds))
            {
                case WriteStatus.Stored:
                    Reply(request, output, "TOUCHED\r\n"u8);
                    break;

                case WriteStatus.NotFound:
                    Reply(request, output, "NOT_FOUND\r\n"u8);
                    break;

                default:
                    Reply(request, output, ErrorText(MemcachedError.OutOfMemory));
                    break;
            }
        }
    }

    private void Count(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        bool isIncrement = request.Command == MemcachedCommand.Incr;
        fixed (byte* key = request.Key.Of(input))
        {
            WriteStatus status = _entries.Add(
                KeyOf(key, request.Key.Length), new Arithmetic(request.Delta, isIncrement), out CountedNumber counted);
            switch (status)
            {
                case WriteStatus.Stored when request.IsNoReply:
                    break;

                case WriteStatus.Stored:
                    Span<byte> room = output.Reserve(DecimalText.MaxUInt64Bytes + 2);
                    int length = DecimalText.Format(counted.Number, room);
                    "\r\n"u8.CopyTo(room[length..]);
                    output.Advance(length + 2);
                    break;

                case WriteStatus.NotFound:
                    _entries.CountArithmeticMiss(isIncrement);
                    Reply(request, output, "NOT_FOUND\r\n"u8);
                    break;

                case WriteStatus.NotANumber:
                    Reply(request, output, ErrorText(MemcachedError.NotANumber));
                    break;

                default:
                    Reply(request, output, ErrorText(MemcachedError.OutOfMemory));
                    break;
            }
        }
    }

    private static ReadOnlySpan<byte> DecodeKey(ReadOnlySpan<byte> input, in MemcachedRequest request, Span<byte> buffer)
    {
        if (!request.IsBase64Key)
        {
            return request.Key.Of(input);
        }

        request.TryDecodeKey(input, buffer, out int length);
        return buffer[..length];
    }
}
