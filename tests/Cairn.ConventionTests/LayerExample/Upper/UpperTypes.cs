using System.Diagnostics;
using Cairn.ConventionTests.LayerExample.Lower;

namespace Cairn.ConventionTests.LayerExample.Upper;

/// <summary>Refers to lower types in each of the ways that a compiled assembly keeps.</summary>
internal static class UpperTypes
{
    public static int Count() => 1;

    // Only the value 10 is in the assembly.
    public static int UsesConstant() => LowerPart.Limit;

    public static int UsesField() => LowerPart.s_shared;

    public static object UsesMethod() => LowerPart.Make();

    public static int UsesArgumentOfGenericMethod() => Array.Empty<LowerPart>().Length;

    public static Type UsesTypeOf() => typeof(List<LowerPart>);

    public static int UsesLocal()
    {
        Span<LowerPart> parts = default;
        return parts.Length + parts.ToString().Length;
    }

    public static bool UsesCatch()
    {
        try
        {
            return Count() == 1;
        }
        catch (LowerException)
        {
            return false;
        }
    }

    public static Func<object> UsesInLambda() => () => new LowerBase();

    public static int UsesInParameter(LowerPart[] parts) => parts.Length;

    public static unsafe bool UsesInFunctionPointer(delegate*<LowerChoice, void> call) => call is null;

    [Lower]
    public static void UsesAttribute() => Count();
}

internal sealed class UpperDerived : LowerBase;

internal sealed class UpperImplementation : ILower;

internal sealed class UpperField
{
    public List<LowerPart> Parts { get; } = [];
}

internal sealed class UpperConstrained<T>
    where T : ILower
{
    public int Size { get; } = typeof(T).Name.Length;
}

[DebuggerTypeProxy(typeof(LowerPart))]
internal sealed class UpperProxied;
