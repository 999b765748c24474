using System.IO.Pipelines;
using Cairn.Caching.AspNetCore.Tagging;

namespace Cairn.Caching.AspNetCore.Responses;

/// <summary>One read of a response, into a pipe or, if there is no pipe, into a copy.</summary>
internal sealed class ResponseReading(TagTable tags, PipeWriter? target)
{
    /// <summary>Gets the response if there is no pipe.</summary>
    public byte[]? Copy { get; private set; }

    /// <summary>Gets a value that says whether there was a response.</summary>
    public bool IsDone { get; private set; }

    /// <summary>Gets the version of a void entry; 0 if the entry was not void.</summary>
    public ulong VoidVersion { get; private set; }

    public void Read(ReadOnlySpan<byte> envelope, ulong version)
    {
        if (!ResponseEnvelope.TryOpen(envelope, tags, out ReadOnlySpan<byte> response))
        {
            VoidVersion = version;
            return;
        }

        IsDone = true;
        if (target is null)
        {
            Copy = response.ToArray();
        }
        else
        {
            target.Write(response);
        }
    }
}
