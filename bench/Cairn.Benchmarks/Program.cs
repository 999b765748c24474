using System.CommandLine;
using Cairn.Benchmarks;
using Cairn.Benchmarks.Formats;
using Cairn.Benchmarks.Hybrid;
using Cairn.Benchmarks.Map;
using Cairn.Benchmarks.ReadableFile;
using Cairn.Benchmarks.RedisClients;
using Cairn.Benchmarks.Reporting;
using Cairn.Benchmarks.Server;
using Cairn.Benchmarks.Store;

// Child processes of a run come first: they are this program with other work to do.
if (args is [ReaderProcess.Command, .. var readerArguments])
{
    return ReaderProcess.Serve(readerArguments);
}

if (args is [FileCases.OpenCommand, .. var openArguments])
{
    return FileCases.ServeOpening(openArguments);
}

if (args is [FileWriteCases.SightCommand, .. var sightArguments])
{
    return FileWriteCases.ServeSight(sightArguments);
}

if (args is [FileCrowdCases.WriteCommand, .. var writeArguments])
{
    return FileCrowdCases.ServeWriting(writeArguments);
}

if (args is [FileCrowdCases.ReadCommand, .. var readArguments])
{
    return FileCrowdCases.ServeReading(readArguments);
}

if (args is [InvalidationCase.Command, .. var hearArguments])
{
    return InvalidationCase.Serve(hearArguments);
}

if (args is [FirstUseCase.Command, .. var firstUseArguments])
{
    return FirstUseCase.Serve(firstUseArguments);
}

if (args is [EchoServer.Command, .. var echoArguments])
{
    return EchoServer.Serve(echoArguments);
}

if (args is [DocumentFigures.Command])
{
    return DocumentFigures.Write(BenchmarkCommand.RepositoryRoot());
}

return BenchmarkCommand.Create().Parse(args).Invoke();
