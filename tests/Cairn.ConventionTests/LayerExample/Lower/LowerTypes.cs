using Cairn.ConventionTests.LayerExample.Upper;

namespace Cairn.ConventionTests.LayerExample.Lower;

internal interface ILower;

internal class LowerBase;

internal enum LowerChoice : byte
{
    None,
}

internal sealed class LowerException : Exception;

internal sealed class LowerPart
{
    public const int Limit = 10;

    internal static readonly int s_shared = Environment.ProcessId;

    public static LowerPart Make() => new();
}

[AttributeUsage(AttributeTargets.All)]
internal sealed class LowerAttribute : Attribute;

/// <summary>The one reference upwards, in the body of an async method.</summary>
internal static class LowerCaller
{
    public static async Task<int> CallUpwards()
    {
        await Task.Yield();
        return UpperTypes.Count();
    }
}
