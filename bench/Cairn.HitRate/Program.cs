using System.CommandLine;
using Cairn.HitRate;

try
{
    return HitRateCommand.Create().Parse(args).Invoke(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
}
catch (Exception failure) when (failure is IOException or InvalidDataException or InvalidOperationException or UnauthorizedAccessException)
{
    // A folder or a file that the caller named, or xz, is missing or unusable.
    Console.Error.WriteLine($"hitrate: {failure.Message}");
    return 1;
}
