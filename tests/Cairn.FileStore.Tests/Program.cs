using Cairn.FileStore.Tests.Processes;

namespace Cairn.FileStore.Tests;

/// <summary>What this assembly does as the second process of a test (see ChildProcess): the first argument names the role,
/// the others belong to it.</summary>
internal static class Program
{
    private static readonly Dictionary<string, Action<string[]>> Roles = new(StringComparer.Ordinal)
    {
        ["answer"] = FileStoreRoles.Answer,
        ["hold-turn"] = FileStoreRoles.HoldTurn,
        ["write-forever"] = FileStoreRoles.WriteForever,
        ["write-many"] = FileStoreRoles.WriteMany,
    };

    private static int Main(string[] args) => TestRoles.Run(Roles, args);
}
